"""Pareto delays: rare stragglers that dominate the average."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class Pareto(AbstractDelayLaw):
    """P(delay > t) = (minimum / t) ** tail for t >= minimum.

    Attributes:
        minimum: Shortest delay, s, > 0.
        tail: Tail index, > 0; the mean is finite only above 1, the variance only above 2.

    Source: Arnold (2015), Pareto Distributions, 2nd ed. (type I).
    """

    minimum: float
    tail: float

    def __post_init__(self) -> None:
        shortest = self.minimum
        check(0 < shortest and isfinite(shortest), self, "minimum", "a number of seconds > 0")
        check(0 < self.tail and isfinite(self.tail), self, "tail", "a number > 0")

    def quantile(self, u):
        return self.minimum * np.exp(-np.log1p(-u) / self.tail)

    def mean(self):
        return self.minimum * self.tail / (self.tail - 1) if self.tail > 1 else inf

    def variance(self):
        if self.tail <= 2:
            return inf
        return self.minimum**2 * self.tail / ((self.tail - 1) ** 2 * (self.tail - 2))
