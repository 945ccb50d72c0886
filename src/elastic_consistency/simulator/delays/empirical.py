"""Delays that were measured."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class Empirical(AbstractDelayLaw):
    """Each measured delay is as likely as any other; nothing is interpolated.

    Attributes:
        seconds: (N,) measured delays, s, >= 0, ascending; use `from_samples` for others.
    """

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        ascending = all(a <= b for a, b in zip(self.seconds, self.seconds[1:], strict=False))
        sound = ascending and all(0 <= s and isfinite(s) for s in self.seconds)
        allowed = "an ascending, non-empty tuple of finite seconds >= 0"
        check(len(self.seconds) > 0 and sound, self, "seconds", allowed)

    @staticmethod
    def from_samples(seconds: Iterable[float]) -> "Empirical":
        """The law of measured delays in any order, s."""
        return Empirical(tuple(sorted(float(s) for s in seconds)))

    def quantile(self, u):
        values = np.array(self.seconds)
        rank = np.minimum((u * len(values)).astype(np.int64), len(values) - 1)
        return values[rank]

    def mean(self):
        return float(np.mean(self.seconds))

    def variance(self):
        return float(np.var(self.seconds))
