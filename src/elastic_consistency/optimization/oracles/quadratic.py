"""A quadratic with a given spectrum, on which every constant is exact."""

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
class Quadratic(AbstractOracle):
    """f(x) = 1/2 sum_i spectrum_i (x_i - optimum_i)^2, with additive Gaussian noise.

    Exact: L and c are the ends of the spectrum, sigma^2 = variance, f* = 0, and
    M^2(r) = L^2 r^2 + variance, since ||spectrum * (x - x*)|| <= L r with equality along the
    steepest axis. With `offsets` o_i worker i has the minimiser x* + o_i; as they sum to zero f
    changes by a constant only, zeta^2 = mean_i ||spectrum * o_i||^2 is exact everywhere, f* is
    mean_i 1/2 sum spectrum o_i^2, and M^2(r) = (L r + max_i ||spectrum * o_i||)^2 + variance.

    Attributes:
        spectrum: (d,) float64 eigenvalues of the Hessian, >= 0.
        variance: sigma^2 >= 0 of the noise of one gradient; 0 makes it deterministic.
        optimum: (d,) the minimiser x*; the origin when None.
        initial: (d,) the start x_0; ones when None.
        offsets: (n, d) of sum zero over the n workers; None makes all workers alike.
    """

    spectrum: np.ndarray
    variance: float = 0.0
    optimum: np.ndarray | None = None
    initial: np.ndarray | None = None
    offsets: np.ndarray | None = None

    def __post_init__(self) -> None:
        spectrum = self.spectrum
        check(spectrum.ndim == 1 and spectrum.size > 0, self, "spectrum", "a (d,) array, d >= 1")
        finite = bool(np.isfinite(spectrum).all() and (spectrum >= 0).all())
        check(finite, self, "spectrum", "an array of finite numbers >= 0")
        check(0 <= self.variance < np.inf, self, "variance", "a finite number >= 0")
        for field in ("optimum", "initial"):
            point = getattr(self, field)
            fits = point is None or point.shape == spectrum.shape
            check(fits, self, field, f"None or an array of shape {spectrum.shape}")
        if self.offsets is not None:
            balanced = self.offsets.ndim == 2 and self.offsets.shape[1:] == spectrum.shape
            balanced = balanced and np.allclose(self.offsets.sum(axis=0), 0, atol=1e-12)
            check(bool(balanced), self, "offsets", f"(n, {spectrum.size}) numbers of sum zero")

    @property
    def dimension(self):
        return self.spectrum.size

    @property
    def draws_per_job(self):
        return self.dimension if self.variance else 0

    def start(self):
        return np.ones(self.dimension) if self.initial is None else self.initial.copy()

    def gradient(self, view, draws, worker):
        mean = self.worker_mean_gradient(view, worker)
        if self.variance:
            return mean + gaussian_noise(draws, self.variance, view)
        return mean

    def mean_gradient(self, x):
        return like(x, self.spectrum) * self._offset(x)

    def worker_mean_gradient(self, x, worker):
        if self.offsets is None:
            return self.mean_gradient(x)
        return like(x, self.spectrum) * (self._offset(x) - like(x, self.offsets[worker]))

    def loss(self, x):
        offset = self._offset(x)
        excess = array_namespace(x).sum(like(x, self.spectrum / 2) * (offset * offset), axis=-1)
        return excess if self.offsets is None else excess + self._infimum()

    def minimiser(self):
        return np.zeros(self.dimension) if self.optimum is None else self.optimum.copy()

    def constants(self, radius=float("inf")):
        smoothness = float(self.spectrum.max())
        pulls = self._pulls()
        steepest = (smoothness * radius if smoothness else 0.0) + float(pulls.max())
        return Constants(
            smoothness=smoothness,
            strong_convexity=float(self.spectrum.min()),
            variance=self.variance,
            second_moment=steepest**2 + self.variance,
            infimum=self._infimum(),
            radius=radius,
            heterogeneity=float(np.mean(pulls**2)),
        )

    def _pulls(self) -> np.ndarray:
        """(n,) norms of the workers' own gradients at x*."""
        if self.offsets is None:
            return np.zeros(1)
        return np.linalg.norm(self.spectrum * self.offsets, axis=1)

    def _infimum(self) -> float:
        if self.offsets is None:
            return 0.0
        return float(np.mean(self.offsets**2 @ self.spectrum) / 2)

    def _offset(self, x):
        return x if self.optimum is None else x - like(x, self.optimum)
