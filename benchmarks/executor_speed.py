"""Executor against a hand-written NumPy loop on the same schedule, alternating in one run.

    python benchmarks/executor_speed.py [--json FILE]

The floor is what one would write by hand for this one problem: gradient, update and
||x - v||^2, nothing else. The ratio is floor time / executor time; 1 means as fast as by hand.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

STEP_SIZE, WORKERS, PAIRS, SEED = 0.01, 16, 5, 0
CASES = ((10, 8000), (1_000, 8000), (10_000, 3000), (100_000, 60))  # parameters, jobs


def floor_loop(schedule: Schedule, spectrum: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The loop that one would write by hand."""
    x, gaps, views, gradients = start, [], {}, {}
    for op, job in zip(schedule.rows.op.tolist(), schedule.rows.job.tolist(), strict=True):
        if op == Op.READ:
            views[job] = x
        elif op == Op.GRADIENT:
            gradients[job] = spectrum * views[job]
        elif op == Op.ADD:
            gap = x - views.pop(job)
            gaps.append(gap @ gap)
            x = x - STEP_SIZE * gradients.pop(job)
    return x


def compare(d: int, jobs: int) -> dict[str, float]:
    """Median ratio of alternating runs, after checking that the results are the same."""
    spectrum = np.linspace(0.1, 1.0, d)
    oracle = Quadratic(spectrum)
    cluster = Cluster.alike(WORKERS, Exponential(1.0))
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=SEED)
    probes = (AppliedSequence(every=10**9),)
    ratios, seconds = [], []
    for _ in range(PAIRS):
        begin = time.process_time()
        by_hand = floor_loop(schedule, spectrum, oracle.start())
        middle = time.process_time()
        measured = execute(schedule, oracle, SGD(STEP_SIZE), seeds=(SEED,), probes=probes)
        end = time.process_time()
        assert np.array_equal(measured.models[0][0], by_hand)
        ratios.append((middle - begin) / (end - middle))
        seconds.append((end - middle) / jobs * 1e6)
    return {
        "parameters": d,
        "jobs": jobs,
        "ratio_median": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "executor_us_per_job": statistics.median(seconds),
    }


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rows = [compare(d, jobs) for d, jobs in CASES]
    print(f"{'parameters':>10} {'jobs':>6} {'ratio to floor (min, max)':>28} {'us/job':>8}")
    for row in rows:
        spread = f"{row['ratio_median']:.2f} ({row['ratio_min']:.2f}, {row['ratio_max']:.2f})"
        print(
            f"{row['parameters']:>10} {row['jobs']:>6} {spread:>28} "
            f"{row['executor_us_per_job']:>8.1f}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
