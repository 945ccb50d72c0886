"""`elastic run` of a study with axes: a table of all points."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from elastic_consistency.cli.failures import FAILED, keeping
from elastic_consistency.cli.output import console, print_json, progress_bar, say_aside, table
from elastic_consistency.cli.pools import PoolChoice, pool_of
from elastic_consistency.cli.waiting import announce

if TYPE_CHECKING:
    from elastic_consistency.studies.sweeps.run_sweep import SweepResult


def present_sweep(
    content: dict[str, Any],
    path: Path,
    output: Path,
    *,
    pool: PoolChoice,
    modules: tuple[str, ...],
    json: bool,
) -> None:
    """Run a sweep, resume it if it was interrupted, and show its points."""
    from elastic_consistency.studies.sweeps.run_sweep import run_sweep, seconds_of_sweep

    points = output / "points.jsonl"
    with keeping(lambda: f"finished points are in {points}"):
        if pool.is_here and not json:
            seconds, left = seconds_of_sweep(content, path, points, modules=modules)
            announce(seconds / pool.jobs, quiet=json, finished=left)
        with progress_bar(quiet=json) as progress, pool_of(pool, output / "slurm") as executor:
            options: dict[str, Any] = {"executor": executor, "progress": progress}
            result = run_sweep(content, path, points, modules=modules, **options)
    if json:
        print_json(result)
    else:
        _show(result, output)
    diverged = [sentence for row in result.rows for sentence in row.record.get("diverged", [])]
    for sentence in diverged:
        say_aside(sentence)
    if diverged:
        raise typer.Exit(FAILED)


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
    if result.foreign:
        out.print(
            f"Left alone: {result.foreign} points of another study or of another version of the "
            "code.",
            markup=False,
            soft_wrap=True,
        )
