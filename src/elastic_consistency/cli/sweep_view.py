"""`elastic run` of a study with axes: a table of all points."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastic_consistency.cli.failures import BadInputError
from elastic_consistency.cli.output import console, print_json, progress_bar, table

if TYPE_CHECKING:
    from elastic_consistency.studies.sweeps.run_sweep import SweepResult


def present_sweep(
    content: dict[str, Any],
    path: Path,
    output: Path,
    *,
    jobs: int,
    modules: tuple[str, ...],
    json: bool,
) -> None:
    """Run a sweep, resume it if it was interrupted, and show its points."""
    from elastic_consistency.studies.sweeps.run_sweep import run_sweep

    if jobs < 1:
        raise BadInputError(f"--jobs must be a number >= 1, got {jobs}")
    with progress_bar(quiet=json) as progress, _pool(jobs) as executor:
        result = run_sweep(
            content,
            path,
            output / "points.jsonl",
            executor=executor,
            modules=modules,
            progress=progress,
        )
    if json:
        print_json(result)
    else:
        _show(result, output)


@contextmanager
def _pool(jobs: int) -> Iterator[Executor | None]:
    if jobs == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Forking a process with threads, as numpy has, may deadlock.
    with ProcessPoolExecutor(jobs, mp_context=get_context("forkserver")) as pool:
        yield pool


def _show(result: "SweepResult", output: Path) -> None:
    from elastic_consistency.report.wording import number

    def time(contender: dict[str, Any]) -> str:
        estimate = contender["time_s"]
        if estimate is None:
            return f"{contender['reached']}/{contender['runs']} runs"
        ends = f"{number(estimate['lower'])}, {number(estimate['upper'])}"
        return f"{number(estimate['value'])} [{ends}]"

    first = result.rows[0]
    names = [contender["name"] for contender in first.record["contenders"]]
    rows = [
        (*row.where.values(), *(time(contender) for contender in row.record["contenders"]))
        for row in result.rows
    ]
    headings = (*first.where, *(f"{name} [s]" for name in names))
    out = console()
    out.print(table("Time to target", *headings, rows=rows))
    out.print(
        f"{len(rows)} points in {output / 'points.jsonl'}, {result.resumed} of them from before.",
        markup=False,
        soft_wrap=True,
    )
