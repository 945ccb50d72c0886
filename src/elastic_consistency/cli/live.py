"""`elastic live`: real asynchrony on real processes, recorded as a schedule."""

from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elastic_consistency.cli.completion import live_protocols_from
from elastic_consistency.cli.failures import FAILED, BadInputError, RunFailedError
from elastic_consistency.cli.inspect import show_summary
from elastic_consistency.cli.output import Json, console, print_json
from elastic_consistency.cli.replay import ContenderName, StepShare, contender_of, refuse_numbers
from elastic_consistency.cli.run import Modules
from elastic_consistency.cli.waiting import announce

if TYPE_CHECKING:
    from elastic_consistency.schedule import Schedule
    from elastic_consistency.studies.real_processes.live_check import LiveCheck, LiveSettings

_PROTOCOLS = "server, all-reduce, push-sum, overlap-push-sum, pairwise or hogwild"
_START_S = 1.5  # until processes with torch are there, on a machine that is quick
_Protocol = Annotated[
    str, typer.Argument(help=f"One of {_PROTOCOLS}.", autocompletion=live_protocols_from)
]
_Gradients = Annotated[
    int, typer.Option(help="Gradients of each worker; of all together at a server.")
]
_Study = Annotated[
    Path | None, typer.Option(help="Takes problem, rule and codec from it; those of the demo else.")
]
_Pause = Annotated[
    list[float] | None,
    typer.Option(help="Mean seconds added to a gradient; once for all, or once a worker."),
]
_Output = Annotated[
    Path | None,
    typer.Option(help="The recorded schedule; live-PROTOCOL.parquet by default.", dir_okay=False),
]


def live(
    protocol: _Protocol,
    workers: Annotated[int, typer.Option(help="Number of workers.")] = 3,
    gradients: _Gradients = 60,
    seed: Annotated[int, typer.Option(help="Of samples, pauses and peers.")] = 0,
    pause_s: _Pause = None,
    study: _Study = None,
    contender: ContenderName = None,
    step_share: StepShare = 0.0625,
    overlap: Annotated[int, typer.Option(help="Steps of overlap-push-sum.")] = 1,
    blocks: Annotated[int, typer.Option(help="Blocks of the model of hogwild.")] = 4,
    read_pause_s: Annotated[
        float, typer.Option(help="Seconds between two blocks that a worker of hogwild reads.")
    ] = 0.0,
    output: _Output = None,
    allow_module: Modules = None,
    json: Json = False,
) -> None:
    """Train on real processes, record what happened, and check it; exit 1 if it is not so.

    The recorded schedule is executed once more, which must give the models that were trained.
    It can be inspected, replayed and compared as any other: elastic compare live.parquet s.parquet
    """
    counts = (("--workers", workers), ("--gradients", gradients))
    refuse_numbers(*counts, ("--overlap", overlap), ("--blocks", blocks), step_share=step_share)
    pauses = tuple(pause_s or ())
    settings = settings_of(
        protocol, workers, gradients, seed, pauses, overlap, blocks, read_pause_s
    )
    problem = problem_of(study, contender, step_share, tuple(allow_module or ()))
    announce(seconds_of_live_run(settings), quiet=json)
    path = output or Path(f"live-{protocol}.parquet")
    check = _run(settings, problem, path)
    if json:
        print_json({"holds": check.holds, "schedule": path, "check": check})
    else:
        _show(check, path)
    if not check.holds:
        raise typer.Exit(FAILED)


def seconds_of_live_run(settings: "LiveSettings") -> float:
    """Seconds that the pauses and the start of the processes take, roughly."""
    shared = settings.workers if settings.protocol == "server" else 1
    pause = max(settings.pauses_s, default=0.0)
    return _START_S + pause * settings.gradients / shared


def settings_of(protocol: str, *rest: Any) -> "LiveSettings":
    """Settings from the words of a command; other fields in the order of LiveSettings."""
    from elastic_consistency._checks import nearest
    from elastic_consistency.studies.real_processes.live_check import LIVE_PROTOCOLS, LiveSettings

    if protocol not in LIVE_PROTOCOLS:
        allowed, hint = ", ".join(LIVE_PROTOCOLS), nearest(protocol, LIVE_PROTOCOLS)
        raise BadInputError(f"PROTOCOL must be one of {allowed}, got {protocol!r}{hint}")
    return LiveSettings(protocol, *rest)


def problem_of(
    study: Path | None, contender: str | None, step_share: float, modules: tuple[str, ...]
) -> tuple[Any, ...]:
    """Oracle, rule and codec."""
    from elastic_consistency.optimization.oracles import breast_cancer
    from elastic_consistency.studies.comparison.runs import with_step_size
    from elastic_consistency.studies.demo import demo_problem
    from elastic_consistency.studies.files import load_study

    if study is None:
        from elastic_consistency.optimization.update_rules import SGD

        if contender is not None:
            raise BadInputError(f"--contender must come with --study, got {contender!r} alone")
        oracle = demo_problem(breast_cancer())
        return oracle, SGD(step_share / oracle.constants().smoothness), None
    loaded = load_study(study, modules=modules)
    chosen = contender_of(loaded, contender)
    step_size = step_share / loaded.oracle.constants().smoothness
    return loaded.oracle, with_step_size(chosen.rule, step_size), chosen.codec


def _run(settings: "LiveSettings", problem: tuple[Any, ...], path: Path) -> "LiveCheck":
    from elastic_consistency.studies.real_processes.live_check import check_live
    from elastic_consistency.studies.real_processes.parity_check import NO_TORCH, has_torch

    if not has_torch():
        raise RunFailedError(NO_TORCH)
    if not path.parent.is_dir():
        raise BadInputError(f"--output must be in a folder that exists, got {path}")
    check, _ = check_live(settings, *problem, keep=lambda schedule: _keep(schedule, path))
    return check


def _keep(schedule: "Schedule", path: Path) -> None:
    """Save the record; elsewhere if there is no room, since real time cannot be run again."""
    try:
        schedule.save(path)
    except OSError as error:
        spare = Path(mkdtemp(prefix="elastic-live-")) / path.name
        schedule.save(spare)
        error.add_note(f"the schedule is in {spare}: elastic inspect {spare}")
        raise


def _show(check: "LiveCheck", path: Path) -> None:
    show_summary(check.summary, valid=check.invalid or "every invariant holds")
    word = "equal" if check.error <= check.tolerance else "DIFFERENT"
    out = console()
    for line in (
        (
            f"Clocks: times between processes are off by {check.clock_error_s:.3g} s at most; "
            f"causality moved them by {check.shift_s:.3g} s at most."
        ),
        (
            f"Models against the execution of the recorded schedule: {word}, relative difference "
            f"{check.error:.1e}, allowed {check.tolerance:g}."
        ),
        f"Loss: {check.start_loss:.4g} at the start, {check.last_loss:.4g} at the end.",
        f"Schedule in {path}. Next: elastic compare {path} another.parquet",
    ):
        out.print(line, markup=False, soft_wrap=True)
