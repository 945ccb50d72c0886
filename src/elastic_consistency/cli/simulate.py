"""`elastic simulate`: the schedule of one contender, without any arithmetic of models."""

from pathlib import Path
from typing import Annotated

import typer

from elastic_consistency.cli.failures import BadInputError
from elastic_consistency.cli.inspect import show_summary
from elastic_consistency.cli.output import Json, print_json
from elastic_consistency.cli.replay import contender_of
from elastic_consistency.cli.run import Modules, StudyFile
from elastic_consistency.cli.waiting import clock_bar


def simulate(
    study: StudyFile,
    contender: Annotated[
        str | None, typer.Option(help="Name of a contender; the first one by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Timing seed.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="Write the schedule here, as parquet.", dir_okay=False)
    ] = None,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Simulate who meets whom and when, and say where every worker's time goes."""
    from elastic_consistency.studies.comparison.runs import schedule_of
    from elastic_consistency.studies.expected_seconds import seconds_of_simulation
    from elastic_consistency.studies.files import load_study
    from elastic_consistency.studies.summaries.schedule_summary import summarise

    loaded = load_study(study, modules=tuple(allow_module or ()))
    chosen = contender_of(loaded, contender)
    if seed < 0:
        raise BadInputError(f"--seed must be a number >= 0, got {seed}")
    seconds = seconds_of_simulation(loaded, chosen, summarise)
    with clock_bar(f"simulating {chosen.name}", seconds, quiet=json):
        schedule = schedule_of(loaded, chosen, seed)
        if output is not None:
            schedule.save(output)
        summary = summarise(schedule)
    if json:
        print_json(summary)
    else:
        show_summary(summary)
