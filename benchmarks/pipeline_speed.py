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
from elastic_consistency.schedule import Schedule

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

    def run(engine: Engine, of: Schedule) -> None:
        measurement = measured(of, oracle, engine=engine)
        _ = measurement["gap_applied"].peak, int(of.staleness().steps.max())

    assert np.array_equal(measured(schedule, oracle).models[0][0], floor_loop(schedule, oracle))
    run(Engine.COMPILED, schedule)  # compiles
    # A pipeline begins with a schedule that nobody has translated; a sweep translates it once.
    tasks = (
        lambda: floor_loop(schedule, oracle),
        lambda: timing(jobs),
        lambda: run(Engine.PROGRAM, timing(jobs)),
        lambda: run(Engine.COMPILED, timing(jobs)),
        lambda: run(Engine.COMPILED, schedule),
    )
    floor, simulated, plain, compiled, again = map(np.array, alternate(tasks, PAIRS))
    name = f"d = {d:,}"
    yield Figure(f"pipeline / floor, {name}", ratios(plain, floor), most)
    yield Figure(f"  simulation / floor, {name}", ratios(simulated, floor))
    yield Figure(f"floor / compiled, end to end, {name}", ratios(floor, compiled), least)
    yield Figure(f"  floor / compiled, execution of a known schedule, {name}", ratios(floor, again))


def measure() -> Iterator[Figure]:
    """All sizes."""
    for case in CASES:
        yield from compare(*case)


if __name__ == "__main__":
    report(measure, __doc__)
