"""Lognormal delays: many small multiplicative disturbances."""

from dataclasses import dataclass
from math import exp, expm1, isfinite
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class LogNormal(AbstractDelayLaw):
    """log(delay) is normal with mean log(median) and standard deviation log_deviation.

    Attributes:
        median: Delay that half of the draws exceed, s, > 0.
        log_deviation: Standard deviation of the logarithm, > 0.

    Source: Johnson, Kotz, Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 14.
    """

    median: float
    log_deviation: float

    def __post_init__(self) -> None:
        check(0 < self.median and isfinite(self.median), self, "median", "a number of seconds > 0")
        spread = self.log_deviation
        check(0 < spread and isfinite(spread), self, "log_deviation", "a number > 0")

    def quantile(self, u):
        from scipy.special import ndtri  # imported late: the command line must start quickly

        return self.median * np.exp(self.log_deviation * ndtri(u))

    def mean(self):
        return self.median * exp(self.log_deviation**2 / 2)

    def variance(self):
        return self.mean() ** 2 * expm1(self.log_deviation**2)
