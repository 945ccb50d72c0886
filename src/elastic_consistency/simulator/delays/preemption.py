"""A worker that is suspended now and then, and goes on where it stopped."""

from dataclasses import dataclass
from math import isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class Preemption:
    """A worker runs for a while, is suspended for a while, and so on; no work is lost.

    Running and suspended phases pass whether or not the worker computes; the first one is a
    running one. What takes no time is done even while suspended. Like a transient straggler,
    and unlike a delay law, it modulates time.

    Attributes:
        work: Law of the seconds that a computation takes without a suspension.
        running: Law of the length of a running phase, s; its mean is > 0 and finite.
        suspended: Law of the length of a suspension, s; its mean is > 0 and finite.
    """

    work: AbstractDelayLaw
    running: AbstractDelayLaw
    suspended: AbstractDelayLaw

    def __post_init__(self) -> None:
        for name in ("running", "suspended"):
            mean = getattr(self, name).mean()
            check(0 < mean and isfinite(mean), self, name, "a law with a finite mean > 0")

    def speed(self) -> float:
        """Long-run part of the time in which the worker runs, in (0, 1)."""
        running = self.running.mean()
        return running / (running + self.suspended.mean())

    def mean(self) -> float:
        """Long-run mean of a computation, s, when the worker computes without a pause."""
        return self.work.mean() / self.speed()
