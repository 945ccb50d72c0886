"""What all ranks are told to replay, and what each returns; nothing here loads torch."""

import hashlib
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.execution import Trace
from elastic_consistency.execution.probes import Loss
from elastic_consistency.hardware_backend.lowering.placement import Placement
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule


@final
@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """What all ranks are told to replay.

    Attributes:
        schedule: What to replay.
        oracle: The problem.
        rule: The update rule.
        codec: Compression of updates, None for none.
        seeds: One a replicate.
        placement: Which rank plays which host.
        device: "cpu", or a kind of accelerator that torch knows.
        dtype: Name of a floating-point type of torch.
        ordered: Sum messages in the order of their PUT rows.
        loss: A loss to trace, None for none.
        pace: Seconds of real time for one second of the schedule, 0 to run as fast as possible.
    """

    schedule: Schedule
    oracle: AbstractOracle
    rule: AbstractRule
    codec: AbstractCodec | None
    seeds: tuple[int, ...]
    placement: Placement
    device: str
    dtype: str
    ordered: bool
    loss: Loss | None = None
    pace: float = 0.0

    def fingerprint(self) -> str:
        """Differs between ranks that would not replay the same thing."""
        return "; ".join(
            [
                f"schedule {self.schedule.digest()[:12]}",
                self._problem(),
                f"{self.rule!r} {self.codec!r}",
                f"seeds {self.seeds} {self.placement!r} {self.dtype} ordered {self.ordered}",
                f"pace {self.pace}",
            ]
        )

    def _problem(self) -> str:
        """Other data have another gradient; that of two machines agrees in six digits."""
        oracle = self.oracle
        start = np.asarray(oracle.start(), np.float64)
        digest = hashlib.sha256(start.tobytes()).hexdigest()[:12]
        size = np.linalg.norm(oracle.mean_gradient(start[None] + 1))
        name = f"{type(oracle).__name__} of dimension {oracle.dimension}"
        return f"{name} at {digest}, gradient {size:.6g}"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one rank returns.

    Attributes:
        models: Final (R, d) float64 model of each replica that lives there, by number.
        traces: By name.
        lateness: (E,) s, how much later than due each row of this rank ran; NaN elsewhere, and
            everywhere when the replay was not paced.
    """

    models: dict[int, np.ndarray]
    traces: dict[str, Trace]
    lateness: np.ndarray
