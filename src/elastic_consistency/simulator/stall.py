"""Stalls: a simulation in which everybody waits."""

from dataclasses import dataclass
from typing import final

_SHOWN = 8


@final
@dataclass(frozen=True, slots=True)
class Wait:
    """A worker that cannot go on by itself.

    Attributes:
        worker: Who waits, -1 for the server.
        whom: For whom; () when nobody in particular could end the wait.
        reason: For what.
    """

    worker: int
    whom: tuple[int, ...]
    reason: str

    def __str__(self) -> str:
        shown = ", ".join(_name(worker) for worker in self.whom[:_SHOWN])
        more = f" and {len(self.whom) - _SHOWN} more" if len(self.whom) > _SHOWN else ""
        return f"{_name(self.worker)} waits for {shown or 'nobody'}{more} ({self.reason})"


@final
class StallError(RuntimeError):
    """Nothing can happen any more, and the simulation has not reached its end.

    Attributes:
        time: When the last thing happened, s.
        waits: Who waits for whom.
    """

    def __init__(self, time: float, waits: tuple[Wait, ...]) -> None:
        shown = "; ".join(str(wait) for wait in waits[:_SHOWN]) or "no worker has begun"
        more = f"; and {len(waits) - _SHOWN} more" if len(waits) > _SHOWN else ""
        super().__init__(f"The simulation stalled at {time:g} s: {shown}{more}.")
        self.time = time
        self.waits = waits


def _name(worker: int) -> str:
    return f"worker {worker}" if worker >= 0 else "the server"
