"""`elastic replay`: the same schedule file on real processes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastic_consistency.cli.failures import FAILED, BadInputError, RunFailedError
from elastic_consistency.cli.output import Json, console, print_json
from elastic_consistency.cli.run import Modules

if TYPE_CHECKING:
    from elastic_consistency.studies.parity_check import ParityCheck


def replay(
    schedule: Annotated[Path, typer.Argument(help="A schedule as parquet.")],
    study: Annotated[Path, typer.Option(help="The study that says problem, rule and codec.")],
    contender: Annotated[
        str | None, typer.Option(help="Whose rule and codec; the first one's by default.")
    ] = None,
    step_share: Annotated[float, typer.Option(help="Step size in units of 1 / L.")] = 0.0625,
    ranks: Annotated[int, typer.Option(help="Number of processes.")] = 2,
    replicates: Annotated[int, typer.Option(help="Number of sample seeds, from 0 on.")] = 2,
    tolerance: Annotated[float, typer.Option(help="Largest relative difference.")] = 1e-12,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Replay a schedule on gloo processes and compare with the executor; exit 1 if they differ."""
    from elastic_consistency.studies.files import load_study
    from elastic_consistency.studies.parity_check import check_parity
    from elastic_consistency.studies.runs import with_step_size

    _refuse(ranks=ranks, replicates=replicates, step_share=step_share)
    loaded = load_study(study, modules=tuple(allow_module or ()))
    chosen = next((c for c in loaded.contenders if contender in (None, c.name)), None)
    if chosen is None:
        allowed = ", ".join(c.name for c in loaded.contenders)
        raise BadInputError(f"--contender must be one of {allowed}, got {contender!r}")
    step_size = step_share / loaded.oracle.constants().smoothness
    check = check_parity(
        schedule,
        loaded.oracle,
        with_step_size(chosen.rule, step_size),
        codec=chosen.codec,
        sample_seeds=tuple(range(replicates)),
        ranks=ranks,
        tolerance=tolerance,
    )
    if check.error is None:
        raise RunFailedError(check.skipped)
    if json:
        print_json({"holds": check.holds, "check": check})
    else:
        _show(check)
    if not check.holds:
        raise typer.Exit(FAILED)


def _show(check: "ParityCheck") -> None:
    word = "equal" if check.holds else "DIFFERENT"
    console().print(
        f"{check.schedule} on {check.ranks} gloo processes: {word}, relative difference "
        f"{check.error:.1e}, allowed {check.tolerance:g}",
        soft_wrap=True,
    )


def _refuse(*, ranks: int, replicates: int, step_share: float) -> None:
    for name, value in (("--ranks", ranks), ("--replicates", replicates)):
        if value < 1:
            raise BadInputError(f"{name} must be a number >= 1, got {value}")
    if not 0 < step_share < float("inf"):
        raise BadInputError(f"--step-share must be a number > 0, got {step_share}")
