"""What one rank did, in its own order."""

from dataclasses import dataclass, field
from typing import final

from elastic_consistency.schedule import ABSENT, WHOLE_MODEL, Op


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One operation; numbers of messages are unique over all ranks, not consecutive.

    Attributes:
        time: s.
        op: Operation.
        job: Job, -1 where absent.
        message: Message, -1 where absent.
        replica: Replica, -1 where absent.
        block: Block, -1 for the whole model.
        weight: Weight of an ADD, PUT or MIX.
        keep: Keep of a PUT or MIX, -1 where absent.
        share: Share of a job that is dropped.
        turn: Position among all ranks' accesses to (replica, block) of a shared memory, -1
            where the replica belongs to one rank.
    """

    time: float
    op: Op
    job: int = ABSENT
    message: int = ABSENT
    replica: int = ABSENT
    block: int = WHOLE_MODEL
    weight: float = 1.0
    keep: float = -1.0
    share: float = 0.0
    turn: int = -1


@final
@dataclass(slots=True)
class Log:
    """Everything that one rank recorded.

    Attributes:
        entries: In the order in which it did them.
        begins: Time at which it began to compute each of its jobs, s.
        workers: Worker of each job that it created.
        rounds: Round of those jobs that belong to one.
        moved: Messages of its own that move mass.
        error: Bound on the error of its times, s.
    """

    entries: list[Entry] = field(default_factory=list)
    begins: dict[int, float] = field(default_factory=dict)
    workers: dict[int, int] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)
    moved: set[int] = field(default_factory=set)
    error: float = 0.0
