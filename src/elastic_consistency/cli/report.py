"""`elastic report`: a page to look at, from what was computed before."""

from pathlib import Path
from typing import Annotated

import typer

from elastic_consistency.cli.output import Json, print_json
from elastic_consistency.cli.waiting import clock_bar

_DRAWING_S = 2.0  # roughly, whatever is drawn


def report(
    source: Annotated[
        Path, typer.Argument(help="A schedule (parquet), or the folder of elastic run or demo.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="The HTML page; beside the source by default.", dir_okay=False),
    ] = None,
    json: Json = False,
) -> None:
    """Write one self-contained HTML page about a schedule or a finished study.

    A schedule, simulated or recorded live: where every worker's time went and how stale its
    updates were. A study: the page that the run wrote, again from its result.json; nothing is
    computed anew.
    """
    if source.suffix == ".parquet":
        page = _of_schedule(source, output, quiet=json)
    else:
        page = _of_study(source, output)
    if json:
        print_json({"report": page})
    else:
        typer.echo(str(page))


def _of_schedule(source: Path, output: Path | None, *, quiet: bool) -> Path:
    from elastic_consistency.report.schedule_page import figures_of, schedule_page
    from elastic_consistency.schedule.storage import load_valid_schedule
    from elastic_consistency.studies.expected_reading import seconds_of_rows
    from elastic_consistency.studies.on_disk.whole_files import write_whole

    page = output or source.with_suffix(".html")
    seconds = seconds_of_rows((source,), lambda pilot: figures_of(pilot, "pilot"))
    with clock_bar("reading", seconds + _DRAWING_S * (seconds > 0), quiet=quiet):
        figures = figures_of(load_valid_schedule(source), source.stem)
        write_whole(page, schedule_page(figures))
    return page


def _of_study(source: Path, output: Path | None) -> Path:
    from elastic_consistency.report.page import page, report_figures
    from elastic_consistency.studies.on_disk.whole_files import write_whole
    from elastic_consistency.studies.run_study import load_outcome

    result = source / "result.json" if source.is_dir() else source
    outcome = load_outcome(result)
    written = output or result.with_name("report.html")
    write_whole(written, page(outcome, report_figures(outcome)))
    return written
