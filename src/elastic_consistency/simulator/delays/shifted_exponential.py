"""Shifted exponential delays: a fixed amount of work and a memoryless remainder."""

from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class ShiftedExponential(AbstractDelayLaw):
    """P(delay > t) = exp(-(t - shift) / scale) for t >= shift.

    Attributes:
        shift: Shortest delay, s, >= 0.
        scale: Mean of what comes on top, s, > 0.

    Source: Lee, Lam, Pedarsani, Papailiopoulos, Ramchandran (2018), arXiv:1512.02673.
    """

    shift: float
    scale: float

    def __post_init__(self) -> None:
        check(0 <= self.shift and isfinite(self.shift), self, "shift", "a number of seconds >= 0")
        check(0 < self.scale and isfinite(self.scale), self, "scale", "a number of seconds > 0")

    def quantile(self, u):
        return self.shift - self.scale * np.log1p(-u)

    def mean(self):
        return float(self.shift + self.scale)

    def variance(self):
        return float(self.scale) ** 2
