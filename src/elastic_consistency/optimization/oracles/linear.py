"""A linear loss: every gradient is the same vector, the extremal case of most constants B."""

from dataclasses import dataclass
from typing import final

import numpy as np
from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import like
from elastic_consistency.optimization.oracles.base import AbstractOracle, Constants
from elastic_consistency.optimization.oracles.gaussian_noise import gaussian_noise


@final
@dataclass(frozen=True, slots=True, eq=False)
class Linear(AbstractOracle):
    """f(x) = <slope, x>, with M^2 = ||slope||^2 + variance everywhere.

    It has no minimum: it measures consistency, not convergence.

    Attributes:
        slope: (d,) float64, the gradient.
        variance: sigma^2 >= 0 of additive Gaussian noise; 0 makes it deterministic.
    """

    slope: np.ndarray
    variance: float = 0.0

    def __post_init__(self) -> None:
        check(self.slope.ndim == 1 and self.slope.size > 0, self, "slope", "a (d,) array, d >= 1")
        check(bool(np.isfinite(self.slope).all()), self, "slope", "an array of finite numbers")
        check(0 <= self.variance < np.inf, self, "variance", "a finite number >= 0")

    @property
    def dimension(self):
        return self.slope.size

    @property
    def draws_per_job(self):
        return self.dimension if self.variance else 0

    def start(self):
        return np.zeros(self.dimension)

    def gradient(self, view, draws, worker):
        if self.variance:
            return self.mean_gradient(view) + gaussian_noise(draws, self.variance, view)
        return self.mean_gradient(view)

    def mean_gradient(self, x):
        # Added to zeros, so that every replicate owns its row.
        return array_namespace(x).zeros_like(x) + like(x, self.slope)

    def loss(self, x):
        return array_namespace(x).sum(x * like(x, self.slope), axis=-1)

    def minimiser(self):
        return None

    def constants(self, radius=float("inf")):
        return Constants(
            smoothness=0.0,
            strong_convexity=0.0,
            variance=self.variance,
            second_moment=float(self.slope @ self.slope) + self.variance,
            infimum=None,
            radius=radius,
        )
