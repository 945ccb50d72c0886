"""Do real processes compute what the simulator says? The same schedule file, both ways."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.execution import execute
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.progress import Progress

if TYPE_CHECKING:
    from elastic_consistency.hardware_backend import Replay

# float32 has 29 bits less than float64. bfloat16 has no useful tolerance for every schedule.
TOLERANCES = {"float64": 1e-12, "float32": 1e-12 * 2**29}
TOLERANCE = TOLERANCES["float64"]
NO_TORCH = "torch is not installed: pip install 'elastic-consistency[hardware]'"


@final
@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How a schedule is replayed.

    Attributes:
        ranks: Number of processes, >= 1.
        device: "cpu", or a kind of accelerator that torch knows, such as "cuda".
        dtype: "float64", "float32" or "bfloat16".
        pace: Seconds of real time for one second of the schedule, >= 0; 0 does not wait.
        ordered: Sum messages in the order of the schedule.
        tolerance: Largest relative difference; None for that of the precision.
    """

    ranks: int = 2
    device: str = "cpu"
    dtype: str = "float64"
    pace: float = 0.0
    ordered: bool = False
    tolerance: float | None = None

    def __post_init__(self) -> None:
        check(self.ranks >= 1, self, "ranks", "a number of processes >= 1")
        known = (*TOLERANCES, "bfloat16")
        check(self.dtype in known, self, "dtype", f"one of {', '.join(known)}")
        check(0 <= self.pace < float("inf"), self, "pace", "a finite number >= 0")
        given = self.tolerance is not None or self.dtype in TOLERANCES
        check(given, self, "tolerance", f"given with dtype {self.dtype}")

    def allowed(self) -> float:
        """Largest relative difference that counts as equal."""
        return TOLERANCES[self.dtype] if self.tolerance is None else self.tolerance


@final
@dataclass(frozen=True, slots=True)
class ParityCheck:
    """How far the models on real processes are from those of the executor.

    Attributes:
        schedule: Name of the schedule file.
        digest: Digest of the schedule.
        ranks: Number of processes.
        backend: Transport between them.
        dtype: Precision.
        error: Largest ||x_replay - x_executor|| / ||x_executor||; None if it was not run.
        tolerance: Largest error that counts as equal.
        sample_seeds: One a replicate.
        skipped: Why it was not run; "" if it was.
        device: Where the models were.
        ordered: Whether messages were summed in the order of the schedule.
        pace: Seconds of real time for one second of the schedule; 0 did not wait.
        median_lateness_s: Median delay of a row behind its due time, s; None without a pace.
        largest_lateness_s: Largest one, s; None without a pace.
    """

    schedule: str
    digest: str
    ranks: int
    backend: str
    dtype: str
    error: float | None
    tolerance: float
    sample_seeds: tuple[int, ...]
    skipped: str = ""
    device: str = "cpu"
    ordered: bool = False
    pace: float = 0.0
    median_lateness_s: float | None = None
    largest_lateness_s: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the two agree; None if it was not run."""
        return None if self.error is None else self.error <= self.tolerance


def not_replayed(path: Path, schedule: Schedule, settings: ReplaySettings, why: str) -> ParityCheck:
    """The check of a schedule that was not replayed, with the reason."""
    return ParityCheck(
        schedule=path.name,
        digest=schedule.digest(),
        ranks=settings.ranks,
        backend="gloo",
        dtype=settings.dtype,
        error=None,
        tolerance=settings.allowed(),
        sample_seeds=(),
        skipped=why,
    )


def check_parity(
    path: Path,
    oracle: AbstractOracle,
    rule: AbstractRule,
    *,
    codec: AbstractCodec | None = None,
    sample_seeds: tuple[int, ...] = (0, 1),
    settings: ReplaySettings | None = None,
    progress: Progress | None = None,
) -> ParityCheck:
    """Load a schedule file, replay it on gloo processes, execute it, and compare.

    Args:
        path: The schedule as parquet.
        oracle: The problem.
        rule: The update rule.
        codec: Compression of updates.
        sample_seeds: One a replicate.
        settings: How to replay it.
        progress: Who is told how far the replay is.
    """
    chosen = settings or ReplaySettings()
    schedule = Schedule.load(path)
    error, lateness, skipped = None, np.full(1, np.nan), "" if has_torch() else NO_TORCH
    if not skipped:
        from elastic_consistency.hardware_backend import parity

        options: dict[str, Any] = {"seeds": sample_seeds, "codec": codec}
        replayed = _replayed(schedule, oracle, rule, options, chosen, progress or Progress())
        measured = execute(schedule, oracle, rule, **options)
        error, lateness = parity(replayed, measured), replayed.lateness
    paced = bool(np.isfinite(lateness).any())
    return ParityCheck(
        schedule=path.name,
        digest=schedule.digest(),
        ranks=chosen.ranks,
        backend="gloo",
        dtype=chosen.dtype,
        error=error,
        tolerance=chosen.allowed(),
        sample_seeds=sample_seeds,
        skipped=skipped,
        device=chosen.device,
        ordered=chosen.ordered,
        pace=chosen.pace,
        median_lateness_s=float(np.nanmedian(lateness)) if paced else None,
        largest_lateness_s=float(np.nanmax(lateness)) if paced else None,
    )


def has_torch() -> bool:
    """Whether PyTorch is installed."""
    from importlib.util import find_spec

    return find_spec("torch") is not None


def _replayed(
    schedule: Schedule,
    oracle: AbstractOracle,
    rule: AbstractRule,
    options: dict[str, Any],
    settings: ReplaySettings,
    progress: Progress,
) -> "Replay":
    from elastic_consistency.hardware_backend import replay

    return replay(
        schedule,
        oracle,
        rule,
        ranks=settings.ranks,
        device=settings.device,
        dtype=settings.dtype,
        ordered=settings.ordered,
        pace=settings.pace,
        listener=lambda share: progress.say("replaying", share),
        **options,
    )
