"""`elastic replay`: the same schedule file on real processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.failures import FAILED, BadInputError, RunFailedError
from elastic_consistency.cli.output import Json, console, print_json, say_aside
from elastic_consistency.cli.run import Modules
from elastic_consistency.cli.waiting import measured_bar

if TYPE_CHECKING:
    from elastic_consistency.studies.real_processes.parity_check import ParityCheck, ReplaySettings
    from elastic_consistency.studies.study import Contender, Study

ContenderName = Annotated[
    str | None, typer.Option(help="Whose rule and codec; the first one's by default.")
]
StepShare = Annotated[float, typer.Option(help="Step size in units of 1 / L.")]
_Tolerance = Annotated[
    float | None,
    typer.Option(help="Largest relative difference; 1e-12 in float64, 5e-4 in float32."),
]
_Pace = Annotated[
    float, typer.Option(help="Real seconds for one second of the schedule; 0 does not wait.")
]
_Device = Annotated[str, typer.Option(help="cpu, or what torch calls it, such as cuda.")]
_Ordered = Annotated[
    bool,
    typer.Option(
        "--ordered", help="Sum messages in the order of the schedule, not in a collective's."
    ),
]


def replay(
    schedule: Annotated[Path, typer.Argument(help="A schedule as parquet.")],
    study: Annotated[Path, typer.Option(help="The study that says problem, rule and codec.")],
    contender: ContenderName = None,
    step_share: StepShare = 0.0625,
    ranks: Annotated[int, typer.Option(help="Number of processes.")] = 2,
    device: _Device = "cpu",
    dtype: Annotated[str, typer.Option(help="float64, float32 or bfloat16.")] = "float64",
    pace: _Pace = 0.0,
    ordered: _Ordered = False,
    replicates: Annotated[int, typer.Option(help="Number of sample seeds, from 0 on.")] = 2,
    tolerance: _Tolerance = None,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Replay a schedule on gloo processes and compare with the executor; exit 1 if they differ."""
    from elastic_consistency.studies.comparison.runs import with_step_size
    from elastic_consistency.studies.files import load_study
    from elastic_consistency.studies.real_processes.parity_check import ReplaySettings, check_parity

    refuse_numbers(("--ranks", ranks), ("--replicates", replicates), step_share=step_share)
    _refuse(dtype=dtype, pace=pace, tolerance=tolerance)
    settings = ReplaySettings(ranks, device, dtype, pace, ordered, tolerance)
    loaded = load_study(study, modules=tuple(allow_module or ()))
    chosen = contender_of(loaded, contender)
    _say_how_long(schedule, settings, quiet=json)
    step_size = step_share / loaded.oracle.constants().smoothness
    rule, seeds = with_step_size(chosen.rule, step_size), tuple(range(replicates))
    options: dict[str, Any] = {"codec": chosen.codec, "sample_seeds": seeds}
    with on_device(device), measured_bar(quiet=json) as progress:
        options |= {"settings": settings, "progress": progress}
        check = check_parity(schedule, loaded.oracle, rule, **options)
    if check.error is None:
        raise RunFailedError(check.skipped)
    if json:
        print_json({"holds": check.holds, "check": check})
    else:
        _show(check)
    if not check.holds:
        raise typer.Exit(FAILED)


@contextmanager
def on_device(device: str) -> Iterator[None]:
    """Name the device where ranks fail that were asked to use another one than the CPU."""
    from elastic_consistency.hardware_backend import RanksError

    try:
        yield
    except RanksError as error:
        if device == "cpu":
            raise
        raise RunFailedError(f"--device {device} does not work on this machine: {error}") from error


def contender_of(study: "Study", name: str | None) -> "Contender":
    """The contender called `name`, or the first one."""
    from elastic_consistency._checks import nearest

    by_name = {entry.name: entry for entry in study.contenders}
    chosen = study.contenders[0].name if name is None else name
    if chosen not in by_name:
        allowed, hint = ", ".join(by_name), nearest(chosen, by_name)
        raise BadInputError(f"--contender must be one of {allowed}, got {chosen!r}{hint}")
    return by_name[chosen]


def refuse_numbers(*counts: tuple[str, int], step_share: float) -> None:
    """Refuse counts below 1 and a step size that is none."""
    for name, value in counts:
        if value < 1:
            raise BadInputError(f"{name} must be a number >= 1, got {value}")
    if not 0 < step_share < float("inf"):
        raise BadInputError(f"--step-share must be a number > 0, got {step_share}")


def _refuse(*, dtype: str, pace: float, tolerance: float | None) -> None:
    from elastic_consistency.studies.real_processes.parity_check import TOLERANCES

    known = (*TOLERANCES, "bfloat16")
    if dtype not in known:
        raise BadInputError(f"--dtype must be one of {', '.join(known)}, got {dtype!r}")
    if dtype not in TOLERANCES and tolerance is None:
        raise BadInputError(f"--tolerance must be given with --dtype {dtype}, got nothing")
    if not 0 <= pace < float("inf"):
        raise BadInputError(f"--pace must be a finite number >= 0, got {pace}")


def _say_how_long(path: Path, settings: "ReplaySettings", *, quiet: bool) -> None:
    from elastic_consistency.schedule.storage import load_valid_schedule

    rows = load_valid_schedule(path).rows
    least = settings.pace * float(rows.time[-1]) if len(rows) else 0.0
    say_aside(f"the pace makes this take at least {least:.3g} s", quiet=quiet or least < 2)


def _show(check: "ParityCheck") -> None:
    word = "equal" if check.holds else "DIFFERENT"
    if check.error == 0:
        word = "equal bit for bit"
    out = console()
    out.print(
        f"{check.schedule} on {check.ranks} gloo processes ({check.device}, {check.dtype}): "
        f"{word}, relative difference {check.error:.1e}, allowed {check.tolerance:.3g}",
        soft_wrap=True,
    )
    if check.median_lateness_s is not None:
        out.print(
            f"Rows ran {check.median_lateness_s:.3g} s late in the median, "
            f"{check.largest_lateness_s:.3g} s at most.",
            soft_wrap=True,
        )
