"""`elastic compare`: two schedules or two results side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.output import Json, console, print_json, table
from elastic_consistency.cli.waiting import clock_bar

if TYPE_CHECKING:
    from elastic_consistency.studies.summaries.side_by_side import Comparison, Pair


def compare(
    first: Annotated[Path, typer.Argument(help="A schedule (parquet), or a result.")],
    second: Annotated[Path, typer.Argument(help="Another one of the same kind.")],
    json: Json = False,
) -> None:
    """Compare staleness, time per step and utilisation: a live run and its simulation, say.

    Both are schedules (.parquet) or results (result.json, or the folder of elastic run), which
    are compared contender by contender.
    """
    from elastic_consistency.studies.expected_reading import seconds_of_rows
    from elastic_consistency.studies.summaries.schedule_summary import summarise
    from elastic_consistency.studies.summaries.side_by_side import compare_files

    with clock_bar("comparing", seconds_of_rows((first, second), summarise), quiet=json):
        found = compare_files(first, second)
    if json:
        print_json({"first": first, "second": second, "comparisons": [_record(c) for c in found]})
        return
    console().print(f"first: {first}\nsecond: {second}", markup=False, soft_wrap=True)
    for comparison in found:
        _show(comparison)


def _record(comparison: "Comparison") -> dict[str, Any]:
    return {
        "name": comparison.name,
        "figures": [_pair(pair) for pair in comparison.figures],
        "workers": [
            {"worker": worker.worker, "figures": [_pair(pair) for pair in worker.figures]}
            for worker in comparison.workers
        ],
        "staleness_distance": comparison.staleness_distance,
    }


def _pair(pair: "Pair") -> dict[str, Any]:
    return {
        "name": pair.name,
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference,
        "change": pair.change,
    }


def _show(comparison: "Comparison") -> None:
    headings = ("first>", "second>", "difference>", "change>")
    out = console()
    rows = [_cells(pair) for pair in comparison.figures]
    out.print(table(comparison.name, "", *headings, rows=rows))
    by_worker = [
        (worker.worker, *_cells(pair)) for worker in comparison.workers for pair in worker.figures
    ]
    out.print(table("By worker", "worker>", "", *headings, rows=by_worker))
    if comparison.staleness_distance is not None:
        out.print(
            "Kolmogorov-Smirnov distance of the two laws of staleness: "
            f"{comparison.staleness_distance:.3g}",
            soft_wrap=True,
        )


def _cells(pair: "Pair") -> tuple[str, ...]:
    from elastic_consistency.report.wording import number

    change = "-" if pair.change is None else f"{pair.change:+.1%}"
    values = (pair.first, pair.second, pair.difference)
    return (pair.name, *(number(value, digits=4) for value in values), change)
