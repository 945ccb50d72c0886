"""Background traffic: others who use the same link now and then."""

from dataclasses import dataclass
from math import isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class BackgroundTraffic:
    """Others take a part of the bandwidth of a link, on and off.

    A transfer that crosses several phases gets what is left in each. The link is idle at first.

    Attributes:
        share: Part of the bandwidth that the others take while they send, in (0, 1).
        idle: Law of the time in which the others are silent, s; its mean is > 0 and finite.
        busy: Law of the time in which they send, s; its mean is > 0 and finite.
    """

    share: float
    idle: AbstractDelayLaw
    busy: AbstractDelayLaw

    def __post_init__(self) -> None:
        check(0 < self.share < 1, self, "share", "a number in (0, 1)")
        for name in ("idle", "busy"):
            mean = getattr(self, name).mean()
            check(0 < mean and isfinite(mean), self, name, "a law with a finite mean > 0")

    def speed(self) -> float:
        """Long-run part of the bandwidth that is left, in (0, 1)."""
        idle, busy = self.idle.mean(), self.busy.mean()
        return (idle + (1 - self.share) * busy) / (idle + busy)
