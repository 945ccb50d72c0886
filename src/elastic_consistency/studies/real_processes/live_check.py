"""A live run, and whether the schedule that it recorded is what happened."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.execution import execute
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary, summarise

LIVE_PROTOCOLS = ("server", "all-reduce", "push-sum", "overlap-push-sum", "pairwise", "hogwild")
_TOLERANCE = 1e-12


@final
@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What runs live.

    Attributes:
        protocol: One of LIVE_PROTOCOLS.
        workers: Number of workers, >= 1.
        gradients: Of each worker; of all workers together at a server; >= 1.
        seed: Seed of samples, pauses and peers, >= 0; the timing is the machine's own.
        pauses_s: Mean seconds that each worker adds to a gradient; one for all, or one each.
        overlap: Steps for which overlap push-sum does not wait, >= 1.
        blocks: Blocks of the shared model of hogwild, >= 1.
        read_pause_s: Seconds between two blocks that a worker of hogwild reads, >= 0.
    """

    protocol: str
    workers: int = 3
    gradients: int = 60
    seed: int = 0
    pauses_s: tuple[float, ...] = ()
    overlap: int = 1
    blocks: int = 4
    read_pause_s: float = 0.0

    def __post_init__(self) -> None:
        known = self.protocol in LIVE_PROTOCOLS
        check(known, self, "protocol", f"one of {', '.join(LIVE_PROTOCOLS)}")
        for name in ("workers", "gradients", "overlap", "blocks"):
            check(getattr(self, name) >= 1, self, name, "a number >= 1")
        check(self.seed >= 0, self, "seed", "a number >= 0")
        most = float("inf") if self.protocol == "hogwild" else 0.0
        allowed = "finite seconds >= 0 with hogwild, 0 without"
        sound = self.read_pause_s == 0 or 0 < self.read_pause_s < most
        check(sound, self, "read_pause_s", allowed)
        sound = all(0 <= pause < float("inf") for pause in self.pauses_s)
        one_each = len(self.pauses_s) in (0, 1, self.workers)
        check(sound and one_each, self, "pauses_s", f"seconds >= 0, one or {self.workers} of them")

    def every_pause(self) -> tuple[float, ...]:
        """One pause a worker, or none at all."""
        return self.pauses_s * self.workers if len(self.pauses_s) == 1 else self.pauses_s


@final
@dataclass(frozen=True, slots=True)
class LiveCheck:
    """What a live run was.

    Attributes:
        protocol: Name of the protocol.
        seed: Seed of samples, pauses and peers.
        summary: The recorded schedule in figures.
        invalid: Why the recorded schedule is not valid; "" if it is.
        clock_error_s: Bound on the error of times between processes, s.
        shift_s: Largest change of a time that kept causes before effects, s.
        error: Largest ||x_live - x_executed|| / ||x_executed|| over replicas.
        tolerance: Largest error that counts as equal.
        start_loss: Loss of the start.
        last_loss: Loss of the final model, averaged over replicas.
    """

    protocol: str
    seed: int
    summary: ScheduleSummary
    invalid: str
    clock_error_s: float
    shift_s: float
    error: float
    tolerance: float
    start_loss: float
    last_loss: float

    @property
    def holds(self) -> bool:
        """Whether the schedule is valid and executing it gives the models that were trained."""
        return not self.invalid and self.error <= self.tolerance


def check_live(
    settings: LiveSettings,
    oracle: AbstractOracle,
    rule: AbstractRule,
    codec: AbstractCodec | None = None,
    *,
    keep: Callable[[Schedule], object] = lambda schedule: None,
) -> tuple[LiveCheck, Schedule]:
    """Run real processes, record their schedule, execute it, and compare.

    Args:
        settings: What runs.
        oracle: The problem.
        rule: The update rule.
        codec: Compression of updates; none by default.
        keep: Gets the schedule as soon as it is recorded; nobody can record it once more.

    Raises:
        ValueError: If the protocol cannot have so many workers or such a rule.
        RanksError: If a process fails.
    """
    from elastic_consistency.hardware_backend.live import run_live

    hogwild = settings.protocol == "hogwild"
    run = run_live(
        _protocol(settings),
        oracle,
        rule,
        n_workers=settings.workers,
        jobs=settings.gradients,
        seed=settings.seed,
        codec=codec,
        pauses=settings.every_pause(),
        block_sizes=_blocks(oracle.dimension, settings.blocks) if hogwild else (),
    )
    keep(run.schedule)
    executed = execute(run.schedule, oracle, rule, seeds=(run.seed,), codec=codec)
    pairs = zip(run.models, executed.models, strict=True)
    found = LiveCheck(
        protocol=settings.protocol,
        seed=settings.seed,
        summary=summarise(run.schedule),
        invalid=_complaint(run.schedule),
        clock_error_s=run.clock_error,
        shift_s=run.shift,
        error=max(_difference(ours, np.asarray(theirs)) for ours, theirs in pairs),
        tolerance=_TOLERANCE,
        start_loss=float(oracle.loss(oracle.start()[None])[0]),
        last_loss=float(np.mean([oracle.loss(model)[0] for model in run.models])),
    )
    return found, run.schedule


def _protocol(settings: LiveSettings) -> Any:
    from elastic_consistency.hardware_backend import live

    made = {
        "server": live.LiveServer,
        "all-reduce": live.LiveAllReduce,
        "push-sum": live.LivePushSum,
        "overlap-push-sum": lambda: live.LivePushSum(overlap=settings.overlap),
        "pairwise": live.LivePairwise,
        "hogwild": lambda: live.Hogwild(settings.read_pause_s),
    }
    return made[settings.protocol]()


def _blocks(dimension: int, count: int) -> tuple[int, ...]:
    return tuple(len(part) for part in np.array_split(np.empty(dimension), min(count, dimension)))


def _complaint(schedule: Schedule) -> str:
    try:
        schedule.check()
    except ValueError as error:
        return str(error)
    return ""


def _difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    scale = float(np.linalg.norm(theirs))
    return float(np.linalg.norm(ours - theirs)) / (scale or 1.0)
