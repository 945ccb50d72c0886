"""Compiled loops against a hand-written NumPy loop on the same schedule, alternating.

    python benchmarks/compiled_speed.py [--json FILE]

Needs Numba. The figure is floor time / time of the compiled execution, gaps included, first for
the execution alone and then end to end, with the simulation that makes the schedule.
"""

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from executor_speed import PAIRS, SEED, STEP_SIZE, floor_loop
from pipeline_speed import seconds_of, timing

from elastic_consistency.execution import Engine, execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD

CASES = ((10, 20_000, 15), (1_000, 8000, 7), (10_000, 2000, 3), (100_000, 60, 3))


def compare(d: int, jobs: int, target: float) -> dict[str, float]:
    """Ratios of alternating runs, after one that compiles."""
    oracle, schedule = Quadratic(np.linspace(0.1, 1.0, d)), timing(jobs)

    def run() -> None:
        probes = (AppliedSequence(every=10**9),)
        rule, engine = SGD(STEP_SIZE), Engine.COMPILED
        execute(schedule, oracle, rule, seeds=(SEED,), probes=probes, engine=engine)

    run()
    alone, whole = [], []
    for _ in range(PAIRS):
        floor = seconds_of(lambda: floor_loop(schedule, oracle.spectrum, oracle.start()))
        compiled, simulated = seconds_of(run), seconds_of(lambda: timing(jobs))
        alone.append(floor / compiled)
        whole.append(floor / (compiled + simulated))
    return {
        "parameters": d,
        "target": target,
        "execution_median": statistics.median(alone),
        "execution_min": min(alone),
        "execution_max": max(alone),
        "end_to_end_median": statistics.median(whole),
    }


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rows = [compare(*case) for case in CASES]
    print(
        f"{'parameters':>10} {'target':>7} {'floor / compiled (min, max)':>28} {'end to end':>11}"
    )
    for row in rows:
        low, high = row["execution_min"], row["execution_max"]
        spread = f"{row['execution_median']:.1f} ({low:.1f}, {high:.1f})"
        print(
            f"{row['parameters']:>10} {row['target']:>7} {spread:>28} "
            f"{row['end_to_end_median']:>11.1f}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
