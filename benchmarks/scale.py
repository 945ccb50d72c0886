"""Long schedules, many workers, a large model: rows a second, memory, bytes on disk.

    python benchmarks/scale.py [--json FILE]

Each part runs in a process of its own, whose peak of memory is told. Rates are of processor
time. ELASTIC_BENCHMARK_ROWS shortens the long schedules, which have 10 million rows.
"""

import multiprocessing
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from figures import Figure, report, seconds_of
from problem import SEED, STEP_SIZE, quadratic, timing

from elastic_consistency.execution import Engine, Execution, execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.started_gaps import started_gaps
from elastic_consistency.schedule.timeline import save_timeline

ROWS, ROWS_A_JOB = int(os.environ.get("ELASTIC_BENCHMARK_ROWS", "10000000")), 6


def timed(
    name: str, rows: int, task: Callable[[], Any], target: str = "", *, repeat: int = 1
) -> tuple[Figure, Any]:
    """A rate in million rows a second, and what the task returned."""
    kept: list[Any] = []
    seconds = [seconds_of(lambda: kept.append(task())) for _ in range(repeat)]
    rates = tuple(rows / took / 1e6 for took in seconds)
    return Figure(f"{name}, million rows/s", rates, target), kept[0]


def long_schedule(workers: int) -> Iterator[Figure]:
    """Simulate, measure, check, write, load and draw one schedule."""
    name = f"{workers:,} workers, {ROWS / 1e6:.3g} million rows"
    rate, schedule = timed(f"simulate, {name}", ROWS, lambda: timing(ROWS // ROWS_A_JOB, workers))
    yield rate
    rows = len(schedule.rows)
    yield timed(f"staleness, {name}", rows, schedule.staleness)[0]
    yield timed(f"exact B of every view, {name}", rows, lambda: started_gaps(schedule))[0]
    yield timed(f"check(), {name}", rows, schedule.check, "≥ 5", repeat=3)[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.parquet"
        schedule.save(path)  # the first call loads pyarrow
        yield timed(f"save, {name}", rows, lambda: schedule.save(path))[0]
        yield Figure(f"disk, bytes a row, {name}", (path.stat().st_size / rows,), "≤ 8.5")
        load = lambda: Schedule.load(path)  # noqa: E731
        rate, loaded = timed(f"load, {name}", rows, load, "≥ 5", repeat=3)
        yield rate
    assert loaded.digest() == schedule.digest()


def drawn(workers: int = 64) -> Iterator[Figure]:
    """A timeline of a tenth of the rows."""
    schedule = timing(ROWS // 10 // ROWS_A_JOB, workers)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timeline.perfetto-trace"
        name, rows = f"draw {len(schedule.rows) / 1e6:.3g} million rows", len(schedule.rows)
        yield timed(name, rows, lambda: save_timeline(schedule, path))[0]


def many_workers(workers: int = 10_000, d: int = 10_000) -> Iterator[Figure]:
    """Execute a schedule in which every worker holds its own version of the model."""
    schedule, name = timing(2 * workers, workers), f"{workers:,} workers, d = {d:,}"
    probes = (AppliedSequence(every=10**9),)
    # A step size that suits a staleness of 10,000.
    rule = SGD(STEP_SIZE / workers)
    execution = Execution(schedule, quadratic(d), rule, seeds=(SEED,), probes=probes)
    plan = execution.memory_plan
    assert plan is not None
    yield Figure(f"memory planned, GB, {name}", (plan.predicted_bytes / 1e9,))
    seconds = seconds_of(lambda: list(execution.chunks()))
    yield Figure(f"execution, us a job, {name}", (seconds / len(schedule.jobs) * 1e6,))


def large_model(side: int = 10_000, jobs: int = 6) -> Iterator[Figure]:
    """One linear layer of 1e8 parameters in float32 on the torch oracle, with 2 workers."""
    import torch

    from elastic_consistency.optimization.oracles.torch_oracles import TorchModule

    torch.set_num_threads(1)
    inputs, targets = torch.ones(4, side), torch.zeros(4, side)
    oracle = TorchModule(
        torch.nn.Linear(side, side, bias=False),
        lambda out, wanted: ((out - wanted) ** 2).mean(dim=1),
        inputs,
        targets,
        batch=2,
    )
    start = torch.full((1, side * side), 1e-4)
    schedule = timing(jobs, workers=2)

    def run() -> None:
        execute(schedule, oracle, SGD(0.1), seeds=(SEED,), start=start, engine=Engine.ROWS)

    yield Figure("seconds a job, 1e8 parameters on torch", (seconds_of(run) / jobs,))


PARTS = (
    (large_model, "1e8 parameters on torch", ()),
    (many_workers, "10,000 workers, d = 10,000", ()),
    (long_schedule, "64 workers", (64,)),
    (long_schedule, "100,000 workers", (100_000,)),
    (drawn, "drawing", ()),
)


def alone(part: Callable[..., Iterator[Figure]], arguments: tuple, pipe: Any) -> None:
    """One part, then the peak of its process, in GB."""
    for figure in part(*arguments):
        pipe.send(figure)
    pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def measure() -> Iterator[Figure]:
    """All parts, each in a process of its own."""
    context = multiprocessing.get_context("spawn")
    for part, name, arguments in PARTS:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=alone, args=(part, arguments, theirs))
        process.start()
        theirs.close()
        while isinstance(figure := ours.recv(), Figure):
            yield figure
        process.join()
        target = "≤ 8" if part is large_model else ""
        yield Figure(f"peak of the process, GB, {name}", (figure,), target)


if __name__ == "__main__":
    report(measure, __doc__)
