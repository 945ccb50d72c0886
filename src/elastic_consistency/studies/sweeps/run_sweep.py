"""Running a sweep: what is finished is kept, and the same command goes on where it stopped."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from threadpoolctl import threadpool_limits

from elastic_consistency.studies.comparison.contenders import ContenderResult, compare
from elastic_consistency.studies.comparison.divergence import diverged_sentences
from elastic_consistency.studies.comparison.savings import savings
from elastic_consistency.studies.expected_seconds import seconds_of_comparison
from elastic_consistency.studies.files.errors import FieldError
from elastic_consistency.studies.files.study_file import study_of
from elastic_consistency.studies.on_disk.records import plain
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.sweeps.points import Point, points_of
from elastic_consistency.studies.sweeps.store import PointStore


@final
@dataclass(frozen=True, slots=True)
class SweepRow:
    """One finished point.

    Attributes:
        where: Value of each swept field.
        record: Contenders and savings as plain values.
    """

    where: dict[str, Any]
    record: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class SweepResult:
    """A finished sweep.

    Attributes:
        rows: Every point in the order of the axes.
        resumed: Points that were finished before.
        foreign: Points in the file that are of another study or of another version of the code.
    """

    rows: tuple[SweepRow, ...]
    resumed: int
    foreign: int = 0


def run_sweep(
    content: dict[str, Any],
    path: Path,
    output: Path,
    *,
    executor: Executor | None = None,
    modules: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> SweepResult:
    """Run every point that is not finished yet; finished ones are read from `output`.

    Args:
        content: Plain values of a study file with axes.
        path: Where they come from, for errors.
        output: File of finished points.
        executor: Runs points elsewhere, from concurrent.futures or compatible with it; None
            runs them here, one after the other.
        modules: Further modules whose classes the file may name.
        progress: Who wants to know how far it is.

    Raises:
        StudyFileError: If a point is no study; all are looked at before the first one runs.
        StoreInUseError: If another process is writing into `output`.
    """
    points, store = _points(content, path, modules), PointStore(output)
    with store.alone():
        return _finish_all(points, store, (path, modules), executor, progress or Progress())


def _finish_all(
    points: tuple[Point, ...],
    store: PointStore,
    where: "_Where",
    executor: Executor | None,
    told: Progress,
) -> SweepResult:
    open_points = [point for point in points if point.key not in store.finished]
    resumed = len(points) - len(open_points)
    foreign = len(store.finished.keys() - {point.key for point in points})

    def finish(point: Point, record: dict[str, Any]) -> None:
        store.add(point.key, record)
        told.say("sweep", (len(store.finished) - foreign) / len(points))

    run = _run_here if executor is None else _run_elsewhere(executor)
    run(open_points, where, finish)
    rows = tuple(SweepRow(point.where, store.finished[point.key]) for point in points)
    return SweepResult(rows, resumed, foreign)


def seconds_of_sweep(
    content: dict[str, Any], path: Path, output: Path, *, modules: tuple[str, ...] = ()
) -> tuple[float, int]:
    """Seconds that `run_sweep` will take here, roughly, and the number of finished points.

    The first and the last open point are taken for all of them, as far as they run; see
    `run_sweep` for the rest.
    """
    points, store = _points(content, path, modules), PointStore(output)
    left = [point for point in points if point.key not in store.finished]
    ends = left[:: max(1, len(left) - 1)]
    costs = []
    for point in ends:
        with suppress(Exception):  # it is told when the point has its turn
            costs.append(seconds_of_comparison(study_of(point.content, path, modules=modules)))
    return len(left) * sum(costs) / max(1, len(costs)), len(points) - len(left)


def _points(content: dict[str, Any], path: Path, modules: tuple[str, ...]) -> tuple[Point, ...]:
    try:
        points = points_of(content, modules)
    except FieldError as error:
        raise error.in_file(path) from error
    for point in points:
        study_of(point.content, path, modules=modules)
    return points


@threadpool_limits.wrap(limits=1, user_api="blas")
def run_point(content: dict[str, Any], path: Path, modules: tuple[str, ...]) -> dict[str, Any]:
    """What is kept of one point, as plain values."""
    study = study_of(content, path, modules=modules)
    results = tuple(result for result, _ in compare(study, Progress()))
    kept = {
        "contenders": [_kept(result) for result in results],
        "savings": savings(study, results),
        "diverged": diverged_sentences(results),
    }
    return plain(kept)  # type: ignore[return-value]


def _kept(result: ContenderResult) -> dict[str, Any]:
    names = ("name", "step_size", "time_s", "reached", "runs", "digests")
    return {name: getattr(result, name) for name in names}


_Where = tuple[Path, tuple[str, ...]]
_Finish = Callable[[Point, dict[str, Any]], None]


def _run_here(points: list[Point], where: _Where, finish: _Finish) -> None:
    outcomes = ((point, partial(run_point, point.content, *where)) for point in points)
    _finish_each(outcomes, finish)


def _run_elsewhere(executor: Executor) -> Callable[[list[Point], _Where, _Finish], None]:
    def run(points: list[Point], where: _Where, finish: _Finish) -> None:
        waiting: dict[Future[dict[str, Any]], Point] = {
            executor.submit(run_point, point.content, *where): point for point in points
        }
        done = ((waiting.pop(f), f.result) for f in as_completed(tuple(waiting)))
        try:
            _finish_each(done, finish)
        finally:
            for future, point in waiting.items():
                if not future.cancel() and future.done() and future.exception() is None:
                    finish(point, future.result())  # it was finished when somebody interrupted

    return run


def _finish_each(
    outcomes: Iterable[tuple[Point, Callable[[], dict[str, Any]]]], finish: _Finish
) -> None:
    """Keep every point that comes to its end; only then say that others did not."""
    failures: list[tuple[Point, Exception]] = []
    for point, outcome in outcomes:
        try:
            record = outcome()
        except Exception as error:  # noqa: BLE001  (the other points are run all the same)
            failures.append((point, error))
        else:
            finish(point, record)
    if failures:
        point, error = failures[0]
        others = f" and {len(failures) - 1} others" if len(failures) > 1 else ""
        error.add_note(f"at the point {point.where}{others}; every other point is finished")
        raise error
