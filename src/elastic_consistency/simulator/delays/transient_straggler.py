"""A worker that turns slow for a while, recovers, and turns slow again."""

from dataclasses import dataclass
from math import isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class TransientStraggler:
    """Work progresses at speed 1 in normal phases and at speed 1 / factor in slow ones.

    Unlike the other laws this one modulates time: how long a computation takes depends on when
    it begins and on every phase that it crosses. Phases pass whether or not the worker
    computes. The first phase is a normal one.

    Attributes:
        work: Law of the seconds that a computation takes at speed 1.
        factor: How many times slower the slow phases are, >= 1.
        normal: Law of the length of a normal phase, s; its mean is > 0 and finite.
        slow: Law of the length of a slow phase, s; its mean is > 0 and finite.
    """

    work: AbstractDelayLaw
    factor: float
    normal: AbstractDelayLaw
    slow: AbstractDelayLaw

    def __post_init__(self) -> None:
        check(1 <= self.factor and isfinite(self.factor), self, "factor", "a finite number >= 1")
        for name in ("normal", "slow"):
            mean = getattr(self, name).mean()
            check(0 < mean and isfinite(mean), self, name, "a law with a finite mean > 0")

    def speed(self) -> float:
        """Long-run mean speed, in (0, 1], relative to a normal phase."""
        normal, slow = self.normal.mean(), self.slow.mean()
        return (normal + slow / self.factor) / (normal + slow)

    def mean(self) -> float:
        """Long-run mean of a computation, s, when the worker computes without a pause."""
        return self.work.mean() / self.speed()
