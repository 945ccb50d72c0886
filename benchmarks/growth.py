"""Growth of execution time with workers, updates, dimension and replicates, with exponents.

    python benchmarks/growth.py [--plot FILE.svg] [--json FILE]

Each curve is the median of a few runs of translating and executing one schedule, in seconds of
the processor; the exponent is the slope of a straight line through the larger half of the
points on logarithmic axes. 0 in the workers means: a worker costs nothing by itself.
"""

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from pipeline_speed import STEP_SIZE, seconds_of

from elastic_consistency.execution import Engine, execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

BASE = {"workers": 16, "updates": 4000, "dimension": 10, "replicates": 1}
CURVES = {
    "workers": (16, 64, 256, 1024, 2048),
    "updates": (1000, 4000, 16_000, 64_000),
    "dimension": (10, 100, 1000, 10_000, 30_000),
    "replicates": (1, 4, 16, 64, 256, 1024),
}
ROUNDS = 3


def seconds(workers: int, updates: int, dimension: int, replicates: int) -> float:
    """Median time of one execution."""
    cluster = Cluster.alike(workers, Exponential(1.0))
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=updates), seed=0)
    oracle, seeds = Quadratic(np.linspace(0.1, 1.0, dimension)), tuple(range(replicates))

    def run() -> None:
        rule, probes = SGD(STEP_SIZE / workers), (AppliedSequence(every=10**9),)
        execute(schedule, oracle, rule, seeds=seeds, probes=probes, engine=Engine.PROGRAM)

    run()
    return statistics.median(seconds_of(run) for _ in range(ROUNDS))


def curve(name: str) -> dict[str, list[float] | float]:
    """One curve and its exponent."""
    sizes = CURVES[name]
    times = [seconds(**(BASE | {name: size})) for size in sizes]
    half = len(sizes) // 2
    slope, _ = np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)
    return {"sizes": list(sizes), "seconds": times, "exponent": float(slope)}


def plot(curves: dict[str, dict], path: Path) -> None:
    """Four panels on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    for axes, (name, found) in zip(figure.subplots(2, 2).flat, curves.items(), strict=True):
        axes.loglog(found["sizes"], found["seconds"], marker="o")
        axes.set_xlabel(name)
        axes.set_ylabel("seconds")
        axes.set_title(f"exponent {found['exponent']:.2f}", fontsize=10)
        axes.grid(visible=True, which="both", alpha=0.2)
    figure.savefig(path)


def main() -> None:
    """Print the table; plot and write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--plot", type=Path, help="also draw the curves")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    curves = {name: curve(name) for name in CURVES}
    for name, found in curves.items():
        points = "  ".join(
            f"{size:,}: {time:.3f}"
            for size, time in zip(found["sizes"], found["seconds"], strict=True)
        )
        print(f"{name:>10}  exponent {found['exponent']:5.2f}   {points}")
    if options.plot:
        plot(curves, options.plot)
    if options.json:
        options.json.write_text(json.dumps(curves, indent=2))


if __name__ == "__main__":
    main()
