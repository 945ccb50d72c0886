"""Latency injected into real messages, for machines whose network cannot be slowed down."""

from dataclasses import dataclass
from typing import final

from scipy.special import ndtri

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause, uniforms


@final
@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds between the end of a sum and its arrival, normal and never negative.

    Attributes:
        mean: s, >= 0; 0.005 in the published experiments.
        deviation: s, >= 0; 0.0002 there.
        seed: Seed of the jitter; each rank and message has its own draw.
        holds_link: Whether the next sum begins only after the latency, as when each step of a
            collective pays it; else the link carries other sums meanwhile.
    """

    mean: float = 0.0
    deviation: float = 0.0
    seed: int = 0
    holds_link: bool = False

    def __post_init__(self) -> None:
        check(0 <= self.mean < float("inf"), self, "mean", "a finite number of seconds >= 0")
        check(0 <= self.deviation < float("inf"), self, "deviation", "a finite number >= 0")

    def of(self, rank: int, message: int) -> float:
        """Seconds that the given message takes to reach `rank`."""
        if self.deviation == 0:
            return self.mean
        (draw,) = uniforms(self.seed, Cause.LINK, rank, message, 1)
        return max(0.0, self.mean + self.deviation * float(ndtri(draw)))
