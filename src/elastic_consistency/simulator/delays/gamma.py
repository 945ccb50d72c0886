"""Gamma delays: from nearly deterministic to heavier than exponential, by one shape."""

from dataclasses import dataclass
from math import isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class Gamma(AbstractDelayLaw):
    """Density proportional to t ** (shape - 1) * exp(-t / scale).

    Attributes:
        shape: Shape, > 0; an integer k gives the sum of k exponential stages.
        scale: Scale, s, > 0.

    Source: Johnson, Kotz, Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 17.
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        check(0 < self.shape and isfinite(self.shape), self, "shape", "a number > 0")
        check(0 < self.scale and isfinite(self.scale), self, "scale", "a number of seconds > 0")

    def quantile(self, u):
        from scipy.special import gammaincinv  # imported late, as in LogNormal

        return self.scale * gammaincinv(self.shape, u)

    def mean(self):
        return float(self.shape * self.scale)

    def variance(self):
        return float(self.shape) * self.scale**2
