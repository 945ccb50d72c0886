"""`elastic report`: a page to look at, from what was computed before."""

from pathlib import Path
from typing import Annotated

import typer

from elastic_consistency.cli.output import Json, print_json, progress_bar


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
    from elastic_consistency.report.schedule_page import schedule_page
    from elastic_consistency.schedule.storage import load_valid_schedule
    from elastic_consistency.studies.on_disk.whole_files import write_whole

    page = output or source.with_suffix(".html")
    with progress_bar(quiet=quiet) as progress:
        progress.say("reading", 0.0)
        schedule = load_valid_schedule(source)
        progress.say("drawing", 0.5)
        write_whole(page, schedule_page(schedule, source.stem))
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
