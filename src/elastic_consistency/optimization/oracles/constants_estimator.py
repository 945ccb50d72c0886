"""Estimated constants of any oracle, measured at given points, each with an interval.

What is measured holds at the points that were visited, not on a ball around them: all of these
are estimates, and are named as such in `Constants.estimated`, so that no verdict built on them
is called certified.

*Curvature at a point.* Let v be uniform on the unit sphere and lambda the eigenvalue of a
symmetric H of largest absolute value. Then ||H^k v||^(1/k) <= |lambda|, and
||H^k v|| >= |lambda|^k |v_1| with P(|v_1| <= t) <= t sqrt(2 d / pi): the density of v_1 is
largest at 0 for d >= 3, where it is at most sqrt(d / (2 pi)), and for d <= 2 the inequality is
elementary. With probability 1 - delta therefore
|lambda| <= (||H^k v|| sqrt(2 d / pi) / delta)^(1/k).
Products with H are central differences of the mean gradient, whose own error is not counted.
*Smallest eigenvalue.* The same with h I - H in place of H, h the upper end for |lambda|.
*Variance and second moment.* Means over independent draws with a normal interval, which is
approximate. *Suboptimality* of the start: the best loss seen bounds f* from above; a known
infimum, if any, from below.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.optimization.oracles.base import AbstractOracle, Constants
from elastic_consistency.optimization.oracles.heterogeneity import measured_heterogeneity


@final
@dataclass(frozen=True, slots=True)
class EstimatedConstant:
    """An estimate with its interval.

    Attributes:
        name: Which constant.
        low: Lower end.
        high: Upper end; infinity where nothing is known.
        confidence: Probability that the interval holds at the points visited.
        method: How it was estimated, beginning with the word "estimated".
    """

    name: str
    low: float
    high: float
    confidence: float
    method: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConstantsEstimator:
    """Measures L, c, sigma^2, M^2, zeta^2 and f(x_0) - f* of an oracle at given points.

    Attributes:
        oracle: The problem.
        points: (P, d) float64 points, such as those of a trajectory.
        n_workers: Workers whose gradients are sampled; 1 for shared data.
        n_draws: Stochastic gradients sampled at each point and worker, >= 2.
        iterations: Powers k of the Hessian, >= 1.
        error_rate: delta of each interval, in (0, 1), shared among the points.
    """

    oracle: AbstractOracle
    points: np.ndarray
    n_workers: int = 1
    n_draws: int = 100
    iterations: int = 60
    error_rate: float = 1e-3

    def __post_init__(self) -> None:
        shape = (len(self.points), self.oracle.dimension)
        check(self.points.shape == shape and len(self.points) > 0, self, "points", "(P, d) points")
        check(self.n_workers >= 1, self, "n_workers", "a number of workers >= 1")
        check(self.n_draws >= 2, self, "n_draws", "a number of draws >= 2")
        check(self.iterations >= 1, self, "iterations", "a number of powers >= 1")
        check(0 < self.error_rate < 1, self, "error_rate", "a number in (0, 1)")

    def smoothness(self, rng: np.random.Generator) -> EstimatedConstant:
        """L, the largest |eigenvalue| of the Hessians at the points."""
        low, high = self._largest_eigenvalues(rng, np.zeros(len(self.points)))
        method = "estimated by power iteration on Hessian-vector products"
        return self._constant("smoothness", float(low.max()), float(high.max()), method)

    def strong_convexity(self, rng: np.random.Generator) -> EstimatedConstant:
        """c, the smallest eigenvalue of the Hessians at the points; negative if not convex."""
        _, shift = self._largest_eigenvalues(rng, np.zeros(len(self.points)))
        low, high = self._largest_eigenvalues(rng, shift)
        method = "estimated by power iteration on shifted Hessian-vector products"
        smallest, largest = float((shift - high).min()), float((shift - low).min())
        return self._constant("strong_convexity", smallest, largest, method)

    def variance(self, rng: np.random.Generator) -> EstimatedConstant:
        """sigma^2, the largest E||G - grad f_i||^2 over points and workers."""
        noise = self._samples(rng, centred=True)
        return self._largest_mean("variance", noise)

    def second_moment(self, rng: np.random.Generator) -> EstimatedConstant:
        """M^2, the largest E||G||^2 over points and workers."""
        return self._largest_mean("second_moment", self._samples(rng, centred=False))

    def heterogeneity(self) -> EstimatedConstant:
        """zeta^2, exact at the points up to rounding, largest over them."""
        largest = measured_heterogeneity(self.oracle, self.points, self.n_workers).max()
        method = "estimated by the largest value at the points"
        return self._constant("heterogeneity", float(largest), float("inf"), method)

    def suboptimality(self) -> EstimatedConstant:
        """f(x_0) - f*: at least the progress from the start to the best point."""
        start = float(self.oracle.loss(self.oracle.start()[None])[0])
        best = min(start, float(np.min(self.oracle.loss(self.points))))
        infimum = self.oracle.constants().infimum
        high = float("inf") if infimum is None else start - infimum
        return self._constant("suboptimality", start - best, high, "estimated by the best loss")

    def constants(self, rng: np.random.Generator) -> Constants:
        """Cautious ends of all intervals, as constants whose fields are marked estimated.

        The heterogeneity is the largest one measured, since it has no other end.
        The radius is that of the ball around the minimiser (else the start) that holds the
        points; the infimum is the oracle's own.
        """
        known = self.oracle.constants()
        minimiser = self.oracle.minimiser()
        centre = self.oracle.start() if minimiser is None else minimiser
        names = ("smoothness", "strong_convexity", "variance", "second_moment", "heterogeneity")
        return replace(
            known,
            smoothness=self.smoothness(rng).high,
            strong_convexity=self.strong_convexity(rng).low,
            variance=self.variance(rng).high,
            second_moment=self.second_moment(rng).high,
            heterogeneity=self.heterogeneity().low,
            radius=float(np.linalg.norm(self.points - centre, axis=1).max()),
            estimated=frozenset(names),
        )

    def _constant(self, name: str, low: float, high: float, method: str) -> EstimatedConstant:
        return EstimatedConstant(name, low, high, 1 - self.error_rate, method)

    def _largest_eigenvalues(
        self, rng: np.random.Generator, shift: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(P,) lower and upper ends for max |eigenvalue| of shift I - H; of H for shift 0."""
        direction = rng.standard_normal(self.points.shape)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        growth = logarithm = np.zeros(len(self.points))
        for _ in range(self.iterations):
            image = shift[:, None] * direction - self._hessian_product(direction)
            growth = np.linalg.norm(image, axis=1)
            logarithm = logarithm + np.log(np.maximum(growth, np.finfo(np.float64).tiny))
            direction = image / np.maximum(growth, np.finfo(np.float64).tiny)[:, None]
        share = self.error_rate / len(self.points)
        slack = max(np.log(np.sqrt(2 * self.points.shape[1] / np.pi) / share), 0.0)
        # Growth rises from power to power, so the last is the best of the lower ends.
        return growth, np.exp((logarithm + slack) / self.iterations)

    def _hessian_product(self, direction: np.ndarray) -> np.ndarray:
        size = np.maximum(np.linalg.norm(self.points, axis=1, keepdims=True), 1.0)
        length = np.cbrt(np.finfo(np.float64).eps) * size
        ahead = self.oracle.mean_gradient(self.points + length * direction)
        behind = self.oracle.mean_gradient(self.points - length * direction)
        return (ahead - behind) / (2 * length)

    def _samples(self, rng: np.random.Generator, *, centred: bool) -> np.ndarray:
        """(n_workers * P, n_draws) squared norms of stochastic gradients."""
        rows = []
        for worker in range(self.n_workers):
            means = self.oracle.worker_mean_gradient(self.points, worker)
            for point, mean in zip(self.points, means, strict=True):
                views = np.repeat(point[None], self.n_draws, axis=0)
                draws = rng.random((self.n_draws, self.oracle.draws_per_job))
                gradients = self.oracle.gradient(views, draws, worker)
                rows.append(np.sum((gradients - mean * centred) ** 2, axis=1))
        return np.array(rows)

    def _largest_mean(self, name: str, samples: np.ndarray) -> EstimatedConstant:
        quantile = NormalDist().inv_cdf(1 - self.error_rate / (2 * len(samples)))
        means = samples.mean(axis=1)
        margin = quantile * samples.std(axis=1, ddof=1) / np.sqrt(self.n_draws)
        low, high = float((means - margin).max()), float((means + margin).max())
        method = "estimated by sampling, with an approximate normal interval"
        return self._constant(name, max(low, 0.0), high, method)
