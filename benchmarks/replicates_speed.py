"""A block of replicates against one replicate at a time, alternating in one run.

    python benchmarks/replicates_speed.py [--json FILE]

The figure is (R times the time of a single run) / (time of the block); 1 means that a block
saves nothing. Blocks are cut into tiles that fit the cache, so it must never fall below 1.
"""

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from pipeline_speed import STEP_SIZE, seconds_of, timing

from elastic_consistency.execution import Engine, execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD

CASES = ((10, 2000, (4, 16, 64, 256)), (1_000, 1000, (4, 16, 64)), (10_000, 200, (4, 16)),
         (100_000, 60, (4,)))  # fmt: skip
ROUNDS = 5


def compare(d: int, jobs: int, replicates: int) -> dict[str, float]:
    """Ratios of alternating runs."""
    oracle, schedule = Quadratic(np.linspace(0.1, 1.0, d)), timing(jobs)

    def run(seeds: tuple[int, ...]) -> None:
        probes = (AppliedSequence(every=10**9),)
        rule, engine = SGD(STEP_SIZE), Engine.PROGRAM
        execute(schedule, oracle, rule, seeds=seeds, probes=probes, engine=engine)

    run((0,))
    ratios = []
    for _ in range(ROUNDS):
        single = seconds_of(lambda: run((0,)))
        block = seconds_of(lambda: run(tuple(range(replicates))))
        ratios.append(replicates * single / block)
    return {
        "parameters": d,
        "replicates": replicates,
        "ratio_median": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
    }


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rows = [compare(d, jobs, count) for d, jobs, counts in CASES for count in counts]
    print(f"{'parameters':>10} {'replicates':>10} {'one at a time / block (min, max)':>34}")
    for row in rows:
        spread = f"{row['ratio_median']:.1f} ({row['ratio_min']:.1f}, {row['ratio_max']:.1f})"
        print(f"{row['parameters']:>10} {row['replicates']:>10} {spread:>34}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
