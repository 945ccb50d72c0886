"""The whole pipeline and its execution alone against a loop written by hand, alternating.

    python benchmarks/pipeline_speed.py [--json FILE]

The pipeline simulates the timing, executes, and measures B and staleness; the floor is the loop
of problem.py on a schedule that is there already. Below 1 the pipeline, simulation included,
takes less time than the loop alone. Compiled (needs Numba), the figures are floor / ours.
"""

from collections.abc import Iterator

import numpy as np
from figures import Figure, alternate, ratios, report
from problem import floor_loop, measured, quadratic, timing

from elastic_consistency.execution import Engine

PAIRS = 7
# Parameters, jobs, target of the pipeline / floor, target of floor / compiled.
CASES = (
    (10, 8000, "≤ 1.8", "≥ 15"),
    (1_000, 4000, "≤ 1.4", "≥ 7"),
    (10_000, 1500, "≤ 1.15", "≥ 3"),
    (100_000, 60, "≤ 1.15", "≥ 3"),
)


def compare(d: int, jobs: int, most: str, least: str) -> Iterator[Figure]:
    """Ratios of alternating runs of one size."""
    oracle, schedule = quadratic(d), timing(jobs)

    def run(engine: Engine) -> None:
        measurement = measured(schedule, oracle, engine=engine)
        _ = measurement["gap_applied"].peak, int(schedule.staleness().steps.max())

    assert np.array_equal(measured(schedule, oracle).models[0][0], floor_loop(schedule, oracle))
    run(Engine.COMPILED)  # compiles
    tasks = (
        lambda: floor_loop(schedule, oracle),
        lambda: timing(jobs),
        lambda: run(Engine.PROGRAM),
        lambda: run(Engine.COMPILED),
    )
    floor, simulated, plain, compiled = map(np.array, alternate(tasks, PAIRS))
    name = f"d = {d:,}"
    yield Figure(f"pipeline / floor, {name}", ratios(simulated + plain, floor), most)
    yield Figure(f"  simulation / floor, {name}", ratios(simulated, floor))
    yield Figure(f"  execution and measurement / floor, {name}", ratios(plain, floor))
    yield Figure(
        f"floor / compiled, end to end, {name}", ratios(floor, simulated + compiled), least
    )
    yield Figure(f"  floor / compiled, execution alone, {name}", ratios(floor, compiled))


def measure() -> Iterator[Figure]:
    """All sizes."""
    for case in CASES:
        yield from compare(*case)


if __name__ == "__main__":
    report(measure, __doc__)
