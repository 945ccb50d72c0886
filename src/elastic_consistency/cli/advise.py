"""`elastic advise`: is relaxing consistency worth it on this cluster?"""

from typing import TYPE_CHECKING, Annotated

import typer

from elastic_consistency.cli.output import Json, console, print_json, progress_bar, table
from elastic_consistency.cli.run import Modules, StudyFile

if TYPE_CHECKING:
    from elastic_consistency.studies.advice import Advice


def advise(
    study: StudyFile,
    own: Annotated[
        bool, typer.Option("--own", help="Compare the contenders of the study, not the usual ones.")
    ] = False,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Say whether relaxing pays, which way is fastest, what slows you down, what to set."""
    from elastic_consistency.studies.advice import advise as find_advice
    from elastic_consistency.studies.advice import strategies
    from elastic_consistency.studies.files import load_study

    loaded = load_study(study, modules=tuple(allow_module or ()))
    with progress_bar(quiet=json) as progress:
        advice = find_advice(loaded if own else strategies(loaded), progress)
    if json:
        print_json(advice)
    else:
        _show(advice)


def _show(advice: "Advice") -> None:
    from elastic_consistency.report.wording import interval, number, percentage

    out = console()
    out.print(f"[bold]{advice.answer}[/bold]")
    if advice.ties:
        out.print(f"Not to be told from {advice.best}: {', '.join(advice.ties)}.")
    if advice.limits:
        out.print(advice.limits)
    saved = {saving.contender: saving.share for saving in advice.savings}
    rows = [
        (
            result.name,
            interval(result.time_s) if result.time_s else f"{result.reached}/{result.runs} runs",
            percentage(share) if (share := saved.get(result.name)) else "-",
            number(result.step_size),
            f"{result.staleness.p99:g}",
        )
        for result in advice.results
    ]
    headings = ("contender", "time to target [s]", "saving", "step size>", "p99 staleness [steps]>")
    out.print(table("Fastest first", *headings, rows=rows))
    causes = [
        (c.cause, interval(c.seconds), percentage(c.gain) if c.gain else "-") for c in advice.causes
    ]
    out.print(table("What slows the baseline down", "if", "run [s]", "gain", rows=causes))
    out.print(f"Breaks first: {advice.weakest}.")
    out.print(f"Gradients a second, asynchronous over baseline: {interval(advice.throughput_gain)}")
    word = "conditional on estimates" if advice.estimated else "certified"
    steps = [
        (step.bound, f"{word}: {step.condition}", number(step.step_size), number(step.useful))
        for step in advice.steps
    ]
    headings = ("theorem", "binding assumption", "largest step size>", "says something up to>")
    out.print(table("Step sizes of the theorems", *headings, rows=steps))
    settings = [(s.name, number(s.value), s.reason) for s in advice.settings]
    out.print(table("Constants to paste", "constant", "value>", "why", rows=settings))
