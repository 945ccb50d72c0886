"""A block of replicates against one replicate at a time, alternating in one run.

    python benchmarks/replicates_speed.py [--json FILE]

The figure is (R times the time of a single run) / (time of the block); 1 means that a block
saves nothing. Blocks are cut into tiles that fit the cache, so it must never fall below 1.
"""

from collections.abc import Iterator

from figures import Figure, alternate, report
from problem import measured, quadratic, timing

from elastic_consistency.execution import Engine

CASES = ((10, 2000, (4, 16, 64, 256)), (1_000, 1000, (4, 16, 64)), (10_000, 200, (4, 16)),
         (100_000, 60, (4,)))  # fmt: skip
ROUNDS = 5


def compare(d: int, jobs: int, replicates: int) -> Figure:
    """Ratios of alternating runs."""
    oracle, schedule = quadratic(d), timing(jobs)

    def run(count: int) -> None:
        measured(schedule, oracle, seeds=tuple(range(count)), engine=Engine.PROGRAM)

    single, block = alternate((lambda: run(1), lambda: run(replicates)), ROUNDS)
    saved = tuple(replicates * a / b for a, b in zip(single, block, strict=True))
    target = "≥ 20" if d == 10 and replicates >= 64 else "≥ 1"
    return Figure(f"{replicates} replicates one by one / as a block, d = {d:,}", saved, target)


def measure() -> Iterator[Figure]:
    """All sizes."""
    for d, jobs, counts in CASES:
        for count in counts:
            yield compare(d, jobs, count)


if __name__ == "__main__":
    report(measure, __doc__)
