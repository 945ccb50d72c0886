"""What a new process needs to become a rank; nothing here loads torch."""

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Invitation:
    """What a new process needs to become a rank.

    Attributes:
        number: Its rank.
        size: Number of ranks.
        port: Port that rank 0 listens on, 0 for any free one.
        backend: Of torch.distributed.
        heartbeat: Seconds from one sign of life to the next.
    """

    number: int
    size: int
    port: int
    backend: str
    heartbeat: float


def enter(
    connection: Connection, invitation: Invitation, task: Callable[..., Any], argument: Any
) -> None:
    """Entry point of the process of a rank."""
    from elastic_consistency.hardware_backend.processes.rank_process import live

    live(connection, invitation, task, argument)
