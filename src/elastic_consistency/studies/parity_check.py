"""Do real processes compute what the simulator says? The same schedule file, both ways."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from elastic_consistency.execution import execute
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule

TOLERANCE = 1e-12


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

    @property
    def holds(self) -> bool | None:
        """Whether the two agree; None if it was not run."""
        return None if self.error is None else self.error <= self.tolerance


def check_parity(
    path: Path,
    oracle: AbstractOracle,
    rule: AbstractRule,
    *,
    codec: AbstractCodec | None = None,
    sample_seeds: tuple[int, ...] = (0, 1),
    ranks: int = 2,
    tolerance: float = TOLERANCE,
) -> ParityCheck:
    """Load a schedule file, execute it, replay it on `ranks` gloo processes, and compare.

    Args:
        path: The schedule as parquet.
        oracle: The problem.
        rule: The update rule.
        codec: Compression of updates.
        sample_seeds: One a replicate.
        ranks: Number of processes.
        tolerance: Largest error that counts as equal.
    """
    schedule = Schedule.load(path)
    error, skipped = None, ""
    if _has_torch():
        from elastic_consistency.hardware_backend import parity, replay

        measured = execute(schedule, oracle, rule, seeds=sample_seeds, codec=codec)
        replayed = replay(schedule, oracle, rule, seeds=sample_seeds, codec=codec, ranks=ranks)
        error = parity(replayed, measured)
    else:
        skipped = "torch is not installed: pip install 'elastic-consistency[hardware]'"
    return ParityCheck(
        schedule=path.name,
        digest=schedule.digest(),
        ranks=ranks,
        backend="gloo",
        dtype="float64",
        error=error,
        tolerance=tolerance,
        sample_seeds=sample_seeds,
        skipped=skipped,
    )


def _has_torch() -> bool:
    from importlib.util import find_spec

    return find_spec("torch") is not None
