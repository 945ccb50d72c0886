"""The whole pipeline against a hand-written NumPy loop on the same schedule, alternating.

    python benchmarks/pipeline_speed.py [--json FILE]

The pipeline simulates the timing, executes, and measures B and staleness. The floor is what one
would write by hand for this one problem once the schedule is there: gradient, update and
||x - v||^2, nothing else. The figure is pipeline time / floor time; below 1 the pipeline,
simulation included, takes less time than the loop alone.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from executor_speed import PAIRS, SEED, STEP_SIZE, WORKERS, floor_loop

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

CASES = ((10, 8000, 1.8), (1_000, 8000, 1.4), (10_000, 3000, 1.15), (100_000, 60, 1.15))


def seconds_of(task: Callable[[], object]) -> float:
    """Seconds of processor time of one call, which other programs disturb least."""
    begin = time.process_time()
    task()
    return time.process_time() - begin


def timing(jobs: int) -> Schedule:
    """The schedule of the benchmark."""
    cluster = Cluster.alike(WORKERS, Exponential(1.0))
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=SEED)


def measured(schedule: Schedule, oracle: Quadratic) -> tuple[float, int]:
    """B of the applied sequence and the largest staleness."""
    probes = (AppliedSequence(every=10**9),)
    measurement = execute(schedule, oracle, SGD(STEP_SIZE), seeds=(SEED,), probes=probes)
    return measurement["gap_applied"].peak, int(schedule.staleness().steps.max())


def compare(d: int, jobs: int, target: float) -> dict[str, float]:
    """Ratios of alternating runs."""
    oracle = Quadratic(np.linspace(0.1, 1.0, d))
    schedule = timing(jobs)
    rounds = []
    for _ in range(PAIRS):
        floor = seconds_of(lambda: floor_loop(schedule, oracle.spectrum, oracle.start()))
        simulated = seconds_of(lambda: timing(jobs))
        executed = seconds_of(lambda: measured(schedule, oracle))
        rounds.append(((simulated + executed) / floor, simulated / floor, executed / floor))
    whole, simulated, executed = zip(*rounds, strict=True)
    return {
        "parameters": d,
        "jobs": jobs,
        "target": target,
        "ratio_median": statistics.median(whole),
        "ratio_min": min(whole),
        "ratio_max": max(whole),
        "simulate_median": statistics.median(simulated),
        "execute_and_measure_median": statistics.median(executed),
    }


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rows = [compare(*case) for case in CASES]
    print(f"{'parameters':>10} {'target':>7} {'pipeline / floor (min, max)':>28} "
          f"{'simulate':>9} {'execute':>8}")  # fmt: skip
    for row in rows:
        spread = f"{row['ratio_median']:.2f} ({row['ratio_min']:.2f}, {row['ratio_max']:.2f})"
        print(
            f"{row['parameters']:>10} {row['target']:>7} {spread:>28} "
            f"{row['simulate_median']:>9.2f} {row['execute_and_measure_median']:>8.2f}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
