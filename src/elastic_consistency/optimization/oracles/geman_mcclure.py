"""A smooth non-convex loss, flat far away, with every constant known."""

from dataclasses import dataclass
from typing import final

import numpy as np
from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.oracles.base import AbstractOracle, Constants
from elastic_consistency.optimization.oracles.gaussian_noise import gaussian_noise


@final
@dataclass(frozen=True, slots=True, eq=False)
class GemanMcClure(AbstractOracle):
    """f(x) = sum_i x_i^2 / (1 + x_i^2), with additive Gaussian noise.

    One coordinate has slope 2 x / (1 + x^2)^2 and curvature (2 - 6 x^2) / (1 + x^2)^3, which
    lies in [-1/2, 2]: L = 2 at the origin, and c = -1/2 at +-1. The slope is largest at
    1 / sqrt(3), where its square is 27 / 64; hence M^2 = 27 d / 64 + variance on the whole
    space, and L^2 r^2 + variance on a small ball. The minimiser is the origin, f* = 0.

    Attributes:
        initial: (d,) float64 start x_0.
        variance: sigma^2 >= 0 of the noise of one gradient; 0 makes it deterministic.

    Source: Geman, McClure (1987), Bulletin of the ISI 52; constants derived here.
    """

    initial: np.ndarray
    variance: float = 0.0

    def __post_init__(self) -> None:
        check(self.initial.ndim == 1 and self.initial.size > 0, self, "initial", "a (d,) array")
        check(bool(np.isfinite(self.initial).all()), self, "initial", "an array of finite numbers")
        check(0 <= self.variance < np.inf, self, "variance", "a finite number >= 0")

    @property
    def dimension(self):
        return self.initial.size

    @property
    def draws_per_job(self):
        return self.dimension if self.variance else 0

    def start(self):
        return self.initial.copy()

    def gradient(self, view, draws, worker):
        if self.variance:
            return self.mean_gradient(view) + gaussian_noise(draws, self.variance, view)
        return self.mean_gradient(view)

    def mean_gradient(self, x):
        width = 1 + x * x
        return 2 * x / (width * width)

    def loss(self, x):
        return array_namespace(x).sum(x * x / (1 + x * x), axis=-1)

    def minimiser(self):
        return np.zeros(self.dimension)

    def constants(self, radius=float("inf")):
        steepest = min((2 * radius) ** 2, 27 * self.dimension / 64)
        return Constants(
            smoothness=2.0,
            strong_convexity=-0.5,
            variance=self.variance,
            second_moment=steepest + self.variance,
            infimum=0.0,
            radius=radius,
        )
