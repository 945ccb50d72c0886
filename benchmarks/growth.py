"""Growth with workers, updates, dimension and replicates: curves, and the exponents fitted.

    python benchmarks/growth.py [--plot FILE.svg] [--json FILE]

Each curve is the median of a few runs, in seconds of the processor: the simulation over workers
and updates, the execution over all four. The exponent is the slope of a straight line through
the larger half of the points on logarithmic axes. 0 in the workers means: a worker costs
nothing by itself.
"""

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from figures import Figure, seconds_of
from problem import STEP_SIZE, measured, quadratic, timing

from elastic_consistency.execution import Engine

BASE = {"workers": 16, "updates": 4000, "dimension": 10, "replicates": 1}
CURVES = {
    "workers": (16, 64, 256, 1024, 2048),
    "updates": (1000, 4000, 16_000, 64_000),
    "dimension": (10, 100, 1000, 10_000, 30_000),
    "replicates": (1, 4, 16, 64, 256, 1024),
}
ROUNDS = 3


def seconds(workers: int, updates: int, dimension: int, replicates: int) -> tuple[float, float]:
    """Median times of one simulation and of one execution."""
    schedule, oracle = timing(updates, workers), quadratic(dimension)

    def run() -> None:
        seeds, step_size = tuple(range(replicates)), STEP_SIZE / workers
        measured(schedule, oracle, seeds=seeds, engine=Engine.PROGRAM, step_size=step_size)

    run()
    simulations = [seconds_of(lambda: timing(updates, workers)) for _ in range(ROUNDS)]
    executions = [seconds_of(run) for _ in range(ROUNDS)]
    return statistics.median(simulations), statistics.median(executions)


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """Slope through the larger half."""
    half = len(sizes) // 2
    slope, _ = np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)
    return float(slope)


def curve(name: str) -> dict:
    """One curve and its exponents; the simulation knows of workers and updates only."""
    sizes = CURVES[name]
    simulated, executed = zip(*(seconds(**(BASE | {name: n})) for n in sizes), strict=True)
    times = {"execution": list(executed)}
    if name in ("workers", "updates"):
        times["simulation"] = list(simulated)
    fitted = {phase: exponent(sizes, found) for phase, found in times.items()}
    return {"sizes": list(sizes), "seconds": times, "exponents": fitted}


def plot(curves: dict[str, dict], path: Path) -> None:
    """Four panels on logarithmic axes."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(8, 5.5), layout="constrained")
    for axes, (name, found) in zip(sheet.subplots(2, 2).flat, curves.items(), strict=True):
        for phase, times in found["seconds"].items():
            label = f"{phase}, exponent {found['exponents'][phase]:.2f}"
            axes.loglog(found["sizes"], times, marker="o", label=label)
        axes.set_xlabel(name)
        axes.set_ylabel("seconds")
        axes.legend(fontsize=8)
        axes.grid(visible=True, which="both", alpha=0.2)
    sheet.savefig(path)


def main() -> None:
    """Print the exponents; plot the curves and write them as JSON where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--plot", type=Path, help="also draw the curves")
    parser.add_argument("--json", type=Path, help="also write exponents as figures to this file")
    options = parser.parse_args()
    curves, records = {name: curve(name) for name in CURVES}, []
    for name, found in curves.items():
        for phase, slope in found["exponents"].items():
            figure = Figure(f"exponent of the {phase} in the {name}", (slope,))
            print(figure.line())
            times = found["seconds"][phase]
            records.append(figure.record() | {"sizes": found["sizes"], "seconds": times})
    if options.plot:
        plot(curves, options.plot)
    if options.json:
        options.json.write_text(json.dumps(records, indent=2) + "\n")


if __name__ == "__main__":
    main()
