"""`elastic demo`: a first true answer about asynchronous training, on real data."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastic_consistency.cli.failures import FAILED, BadInputError, keeping
from elastic_consistency.cli.output import Json, console, print_json, progress_bar, say_aside
from elastic_consistency.cli.waiting import announce

if TYPE_CHECKING:
    from elastic_consistency.studies.outcome import StudyOutcome
    from elastic_consistency.studies.study import Study

_REPORT_S = 4.0  # roughly: what is loaded, drawn and written, whatever the study


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("elastic-demo"),
    data: Annotated[
        str, typer.Option(help="breast_cancer, digits (minutes) or mnist (hours).")
    ] = "breast_cancer",
    workers: Annotated[int, typer.Option(help="Number of workers.")] = 16,
    slowdown: Annotated[float, typer.Option(help="How much slower worker 0 is.")] = 10.0,
    target: Annotated[
        float, typer.Option(help="Loss to be reached, as a share of what can be gained.")
    ] = 0.01,
    schedules: Annotated[int, typer.Option(help="Number of timing seeds.")] = 12,
    replicates: Annotated[int, typer.Option(help="Runs on each schedule.")] = 16,
    judged: Annotated[int, typer.Option(help="Replicates of the run that is judged.")] = 256,
    rounds: Annotated[int, typer.Option(help="Synchronous rounds of a run.")] = 96,
    seed: Annotated[int, typer.Option(help="First timing seed.")] = 0,
    ranks: Annotated[int, typer.Option(help="Processes of the replay; 0 leaves it out.")] = 2,
    json: Json = False,
) -> None:
    """Compare asynchronous with synchronous training on a cluster with a straggler.

    Takes about half a minute. Prints a verdict card and writes a report (HTML), the schedules
    (parquet), their timelines (for https://ui.perfetto.dev) and a manifest with every seed.
    """
    from elastic_consistency.studies.demo import DemoSettings, demo_study

    settings = DemoSettings(
        data=data,
        workers=workers,
        slowdown=slowdown,
        target=target,
        schedules=schedules,
        replicates=replicates,
        judged=judged,
        seed=seed,
        rounds=rounds,
    )
    present(demo_study(settings), output, ranks=ranks, json=json)


def present(study: "Study", output: Path, *, ranks: int, json: bool) -> None:
    """Run a study, write its files, show its card; exit code 1 if a verdict failed."""
    from elastic_consistency.studies.on_disk.finished_work import FinishedWork

    if ranks < 0:
        raise BadInputError(f"--ranks must be a number >= 0, got {ranks}")
    work = FinishedWork(output / "unfinished")
    with keeping(work.told):
        outcome = _outcome(replace(study, finished=work), output, ranks=ranks, quiet=json)
    work.clear()
    if json:
        print_json(outcome)
    else:
        _show(outcome, output)
    for line in (*outcome.warnings, *outcome.failures):
        say_aside(line)
    if outcome.failures:
        raise typer.Exit(FAILED)


def _outcome(study: "Study", output: Path, *, ranks: int, quiet: bool) -> "StudyOutcome":
    """What came out, when all of its files are in `output`; until then none of them is."""
    from elastic_consistency.report.page import write_report
    from elastic_consistency.studies.expected_seconds import seconds_of_study
    from elastic_consistency.studies.judging.power import power_of_study
    from elastic_consistency.studies.on_disk.whole_files import staged
    from elastic_consistency.studies.run_study import run_study, save_outcome

    seconds, left = seconds_of_study(study) + _REPORT_S, study.finished.count()
    announce(seconds, quiet=quiet, finished=left, foretold=lambda: power_of_study(study))
    stage = staged(output, output / "unfinished" / "files", last="manifest.json")
    with stage as folder, progress_bar(quiet=quiet) as progress:
        outcome = run_study(study, folder, ranks=ranks, progress=progress)
        progress.say("writing the report", 0.97)
        return save_outcome(write_report(outcome, folder), folder)


def _show(outcome: "StudyOutcome", output: Path) -> None:
    from elastic_consistency.cli.card_view import card_panel

    out = console()
    out.print(card_panel(outcome))
    out.print(f"Files in {output}/", markup=False)
    width = max(map(len, outcome.files.values()), default=0) + 2
    for what, name in outcome.files.items():
        out.print(f"  {name:<{width}}{what}", markup=False, soft_wrap=True)
