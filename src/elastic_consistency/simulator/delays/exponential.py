"""Exponential delays: the memoryless law of queueing theory."""

from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class Exponential(AbstractDelayLaw):
    """P(delay > t) = exp(-t / scale).

    Attributes:
        scale: Mean delay, s, > 0.
    """

    scale: float

    def __post_init__(self) -> None:
        check(0 < self.scale and isfinite(self.scale), self, "scale", "a number of seconds > 0")

    def quantile(self, u):
        return -self.scale * np.log1p(-u)

    def mean(self):
        return float(self.scale)

    def variance(self):
        return float(self.scale) ** 2
