"""Peak memory of an execution, against its plan and against the number of updates.

    python benchmarks/executor_memory.py [--json FILE]

Allocations of the execution are traced; the schedule itself is made before. The plan is known
before the first row: arrays alive at a time, and a base that does not grow. The peak must stay
below 1.05 times the live arrays plus the base, and flat in the number of updates.
"""

import tracemalloc
from collections.abc import Iterator

from figures import Figure, report
from problem import SEED, STEP_SIZE, quadratic, timing

from elastic_consistency.execution import Engine, Execution
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.update_rules import SGD

PARAMETERS, WORKERS = 100_000, 8
UPDATES = (200, 800, 3200)
MODEL = 8 * PARAMETERS  # bytes


def peak(jobs: int, engine: Engine) -> tuple[float, float]:
    """Peak of one execution, and its limit of 1.05 times live versions plus base, in bytes."""
    schedule, oracle = timing(jobs, WORKERS), quadratic(PARAMETERS)
    tracemalloc.start()
    probes, rule = (AppliedSequence(every=10**9),), SGD(STEP_SIZE)
    execution = Execution(schedule, oracle, rule, seeds=(SEED,), probes=probes, engine=engine)
    for _ in execution.chunks():
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    plan = execution.memory_plan
    if plan is None:
        return most, float("nan")
    return most, (1.05 * plan.live + plan.base) * plan.array_bytes + plan.table_bytes


def measure() -> Iterator[Figure]:
    """Both engines."""
    peak(UPDATES[0], Engine.PROGRAM)  # imports what loads on first use
    found = {jobs: peak(jobs, Engine.PROGRAM) for jobs in UPDATES}
    for jobs, (most, limit) in found.items():
        yield Figure(f"peak / (1.05 live + base), {jobs:,} updates", (most / limit,), "≤ 1")
        yield Figure(f"  peak in models, {WORKERS} workers, {jobs:,} updates", (most / MODEL,))
    growth = found[UPDATES[-1]][0] / found[UPDATES[0]][0]
    yield Figure(f"peak at {UPDATES[-1]:,} updates / at {UPDATES[0]:,}", (growth,), "≤ 1.05")
    for jobs in UPDATES:
        most, _ = peak(jobs, Engine.ROWS)
        yield Figure(f"  row by row, peak in models, {jobs:,} updates", (most / MODEL,))


if __name__ == "__main__":
    report(measure, __doc__)
