"""A fault script: what goes wrong on a cluster, when, and for how long."""

from dataclasses import dataclass
from math import inf
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.network.losses import check_resend

SCRIPT_VERSION = 1


@final
@dataclass(frozen=True, slots=True)
class Crash:
    """A worker loses its state and what it computes; what it has sent still arrives.

    Attributes:
        worker: Who crashes.
        at_s: When, s, >= 0.
        down_s: For how long, s, > 0; infinite when it does not restart.
    """

    worker: int
    at_s: float
    down_s: float = inf

    def __post_init__(self) -> None:
        check(self.at_s >= 0, self, "at_s", "a number of seconds >= 0")
        check(self.down_s > 0, self, "down_s", "a number of seconds > 0")


@final
@dataclass(frozen=True, slots=True)
class RandomCrashes:
    """A worker that crashes and restarts again and again, at random.

    Attributes:
        worker: Who crashes.
        between: Law of the time from a start to the next crash, s; its mean is > 0.
        down: Law of the time until the restart, s; its mean is > 0.
    """

    worker: int
    between: AbstractDelayLaw
    down: AbstractDelayLaw

    def __post_init__(self) -> None:
        for name in ("between", "down"):
            check(getattr(self, name).mean() > 0, self, name, "a law with a mean > 0")


@final
@dataclass(frozen=True, slots=True)
class LateStart:
    """A worker that joins only later.

    Attributes:
        worker: Who joins.
        at_s: When, s, > 0.
    """

    worker: int
    at_s: float

    def __post_init__(self) -> None:
        check(self.at_s > 0, self, "at_s", "a number of seconds > 0")


@final
@dataclass(frozen=True, slots=True)
class Partition:
    """Some workers are cut off from all others and from the server, not from each other.

    What they send and await arrives as it heals.

    Attributes:
        workers: Who is cut off.
        from_s: From when on, s, >= 0.
        until_s: When it heals, s, > from_s.
    """

    workers: tuple[int, ...]
    from_s: float
    until_s: float

    def __post_init__(self) -> None:
        check(self.from_s >= 0, self, "from_s", "a number of seconds >= 0")
        finite = self.from_s < self.until_s < inf
        check(finite, self, "until_s", "a finite number of seconds > from_s")


Fault = Crash | RandomCrashes | LateStart | Partition


@final
@dataclass(frozen=True, slots=True)
class FaultScript:
    """All that goes wrong.

    Attributes:
        faults: In any order; at most one late start and one law of crashes a worker.
        lost_acknowledgements: Probability that the server's acknowledgement is lost, in [0, 1);
            the update is then sent again, and the server recognises it and counts it once.
        resend_s: Time until an update without acknowledgement is sent again, s, > 0; must be
            given when any can be lost.
        version: Version of this format.
    """

    faults: tuple[Fault, ...] = ()
    lost_acknowledgements: float = 0.0
    resend_s: float | None = None
    version: int = SCRIPT_VERSION

    def __post_init__(self) -> None:
        known = self.version == SCRIPT_VERSION
        check(known, self, "version", f"{SCRIPT_VERSION}, the only one there is")
        probability = 0 <= self.lost_acknowledgements < 1
        check(probability, self, "lost_acknowledgements", "a probability in [0, 1)")
        check_resend(self, self.resend_s, needed=self.lost_acknowledgements > 0)
        for kind in (LateStart, RandomCrashes):
            workers = [fault.worker for fault in self.faults if isinstance(fault, kind)]
            alone = len(set(workers)) == len(workers)
            check(alone, self, "faults", f"at most one {kind.__name__} a worker")

    def workers(self) -> set[int]:
        """Everybody who is named."""
        partitions = [f for f in self.faults if isinstance(f, Partition)]
        named = {f.worker for f in self.faults if not isinstance(f, Partition)}
        return named.union(*(partition.workers for partition in partitions))

    def late_starts(self) -> dict[int, float]:
        """When each worker joins that is not there from the beginning, s."""
        return {f.worker: f.at_s for f in self.faults if isinstance(f, LateStart)}

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes wrong."""
        return not self.faults and self.lost_acknowledgements == 0

    @property
    def has_partitions(self) -> bool:
        """Whether anybody is ever cut off."""
        return any(isinstance(fault, Partition) for fault in self.faults)

    @property
    def moves_workers(self) -> bool:
        """Whether any worker crashes or joins late."""
        return any(not isinstance(fault, Partition) for fault in self.faults)

    def separates(self, sender: int, receiver: int) -> bool:
        """Whether a partition ever lies between the two; -1 is the server."""
        return bool(self._between(sender, receiver))

    def _between(self, sender: int, receiver: int) -> list[Partition]:
        partitions = [f for f in self.faults if isinstance(f, Partition)]
        return [f for f in partitions if (sender in f.workers) != (receiver in f.workers)]

    def heals(self, sender: int, receiver: int, time: float) -> float:
        """When something that would get from one to the other at `time`, s, does so, s."""
        for fault in sorted(self._between(sender, receiver), key=lambda f: f.from_s):
            if fault.from_s <= time < fault.until_s:
                time = fault.until_s
        return time
