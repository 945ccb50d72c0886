"""`elastic predict`: a live run foretold by a simulation that was fitted to another one."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.completion import predictable_from
from elastic_consistency.cli.failures import FAILED, BadInputError, RunFailedError, keeping
from elastic_consistency.cli.live import problem_of, seconds_of_live_run, settings_of
from elastic_consistency.cli.output import Json, console, print_json, say_aside, table
from elastic_consistency.cli.replay import ContenderName
from elastic_consistency.cli.waiting import announce

if TYPE_CHECKING:
    from elastic_consistency.studies.held_out import Prediction
    from elastic_consistency.studies.on_disk.finished_work import FinishedWork
    from elastic_consistency.studies.real_processes.live_check import LiveSettings

_Gradients = Annotated[
    int, typer.Option(help="Gradients of each worker; of all together at a server.")
]
_Pause = Annotated[
    list[float] | None,
    typer.Option(help="Mean seconds added to a gradient; once for all, or once a worker."),
]
_Study = Annotated[
    Path | None, typer.Option(help="Takes problem, rule and codec from it; those of the demo else.")
]
_Protocol = Annotated[
    str,
    typer.Argument(
        help="server, all-reduce, pairwise or hogwild.", autocompletion=predictable_from
    ),
]
_Output = Annotated[
    Path | None, typer.Option(help="Folder of prediction.json; predict-PROTOCOL by default.")
]
_STEP_SHARE = 0.0625  # of 1 / L
_ReadPause = Annotated[float, typer.Option(help="Seconds between two blocks hogwild reads.")]


def predict(
    protocol: _Protocol,
    workers: Annotated[int, typer.Option(help="Number of workers.")] = 3,
    gradients: _Gradients = 120,
    seed: Annotated[int, typer.Option(help="Of the run that is fitted; others follow.")] = 0,
    pause_s: _Pause = None,
    blocks: Annotated[int, typer.Option(help="Blocks of the model of hogwild.")] = 4,
    read_pause_s: _ReadPause = 0.0,
    held_out: Annotated[int, typer.Option(help="Live runs that the fit never sees.")] = 2,
    study: _Study = None,
    contender: ContenderName = None,
    output: _Output = None,
    json: Json = False,
) -> None:
    """Fit a simulation to a live run, compare it with other live runs; exit 1 if it misses.

    An error counts as none below a tenth of the figure, or below twice the largest distance
    between two live runs. Finished live runs are kept until the prediction is written.
    """
    from elastic_consistency.studies.on_disk.finished_work import FinishedWork
    from elastic_consistency.studies.on_disk.whole_files import write_json

    counts = (("--workers", workers), ("--gradients", gradients), ("--held-out", held_out))
    for name, value in (*counts, ("--blocks", blocks)):
        if value < 1:
            raise BadInputError(f"{name} must be a number >= 1, got {value}")
    pauses = tuple(pause_s or ())
    settings = settings_of(protocol, workers, gradients, seed, pauses, 1, blocks, read_pause_s)
    folder = output or Path(f"predict-{protocol}")
    work = FinishedWork(folder / "unfinished")
    with keeping(work.told):
        found = _found(settings, held_out, (study, contender), work, quiet=json)
        record = {"holds": found.holds, "prediction": _record(found)}
        write_json(folder / "prediction.json", record)
    work.clear()
    if json:
        print_json(record)
    else:
        _show(found)
        console().print(f"Files in {folder}/: prediction.json", markup=False)
    if not found.holds:
        raise typer.Exit(FAILED)


def _found(
    settings: "LiveSettings",
    held_out: int,
    asked: tuple[Path | None, str | None],
    work: "FinishedWork",
    *,
    quiet: bool,
) -> "Prediction":
    from elastic_consistency.studies.held_out import predict_held_out
    from elastic_consistency.studies.held_out.prediction import refuse_unpredictable
    from elastic_consistency.studies.real_processes.parity_check import NO_TORCH, has_torch

    refuse_unpredictable(settings, held_out)
    if not has_torch():
        raise RunFailedError(NO_TORCH)
    problem = problem_of(*asked, _STEP_SHARE, ())

    announce((1 + held_out) * seconds_of_live_run(settings), quiet=quiet)

    def tell(text: str) -> None:
        say_aside(text, quiet=quiet)

    return predict_held_out(settings, *problem, held_out=held_out, tell=tell, finished=work)


def _record(found: "Prediction") -> dict[str, Any]:
    from elastic_consistency.studies.traces.fitted_study import law_words

    judged = ("error", "spread", "allowed", "holds")
    return {
        "protocol": found.protocol,
        "seeds": found.seeds,
        "figures": [
            asdict(figure) | {name: getattr(figure, name) for name in judged}
            for figure in found.figures
        ],
        "phases": [
            asdict(shift)
            | {"count": law.count, "law": law_words(law.law), "fits": law.fits}
            | {"distance": law.nearest and law.nearest.distance}
            | {"tail": law.nearest and law.nearest.tail}
            for law, shift in zip(found.laws, found.shifts, strict=True)
        ],
    }


def _show(found: "Prediction") -> None:
    from elastic_consistency.report.wording import number
    from elastic_consistency.studies.traces.fitted_study import law_words

    out = console()
    rows = [
        (
            figure.name,
            number(figure.fitted, digits=4),
            ", ".join(number(value, digits=4) for value in figure.held_out),
            number(figure.predicted, digits=4),
            number(figure.error),
            number(figure.allowed),
            "yes" if figure.holds else "NO",
        )
        for figure in found.figures
    ]
    headings = ("fitted run>", "held out>", "predicted>", "error>", "allowed>", "holds")
    out.print(table(f"{found.protocol}, seeds {found.seeds}", "", *headings, rows=rows))
    phases = [
        (
            shift.phase,
            law.count,
            number(shift.fitted_s),
            number(shift.held_out_s),
            law_words(law.law).partition("(")[0],
            "-" if law.nearest is None else number(law.nearest.distance),
            "-" if law.nearest is None else f"{law.nearest.tail:.1%}",
            "yes" if law.fits else "no",
        )
        for law, shift in zip(found.laws, found.shifts, strict=True)
    ]
    headings = ("n>", "fitted [s]>", "held out [s]>", "law", "distance>", "tail>", "fits")
    out.print(table("Phases: where a prediction goes wrong", "", *headings, rows=phases))
    out.print("tail: share of the data above the nearest law's 95 % quantile.", markup=False)
