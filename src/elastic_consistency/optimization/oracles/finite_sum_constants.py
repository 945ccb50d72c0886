"""Constants of a finite sum on a ball, each with its proof.

Setting: f = mean over workers s of f_s, f_s = mean_{i in s} l_i + ridge / 2 ||w||^2; a stochastic
gradient averages b samples drawn with replacement from the worker's shard. Known: a_i, the
largest ||grad l_i|| on the ball; the gradient of every f_s at the centre u; H_s >= 0, the
largest curvature of f_s without its ridge on the ball, H that of f. Radius r.

*Variance.* The ridge term is the same for all samples and the b draws are independent, so
sigma^2 <= max_s mean_{i in s} a_i^2 / b.

*Second moment.* E||G||^2 = ||grad f_s||^2 + variance of shard s, and ||grad f_s(w)|| is at most
||grad f_s(u)|| + (H_s + ridge) r, and at most mean_{i in s} a_i + ridge (||u|| + r).

*Heterogeneity.* The ridge cancels in grad f_s - grad f. Convex l_i have Hessians between 0 and
H_s, H, which differ by at most max(H_s, H) in norm, so ||grad f_s(w) - grad f(w)|| is at most
||grad f_s(u) - grad f(u)|| + max(H_s, H) r, and at most mean_{i in s} a_i + mean over shards.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.optimization.oracles.base import Constants
from elastic_consistency.optimization.oracles.shards import Shards


@final
@dataclass(frozen=True, slots=True, eq=False)
class FiniteSum:
    """What the proofs of this module need to know of a convex finite sum.

    Attributes:
        shards: Samples of each worker.
        batch: Samples of one stochastic gradient, b.
        ridge: Weight of the ridge term.
        centre: (d,) centre of the ball, u.
        radius: Radius of the ball, r.
        sample_bounds: (N,) a_i, largest norm of each sample's gradient without ridge.
        gradients: (S, d) gradient of each f_s at the centre, without ridge.
        curvatures: (S,) H_s.
        curvature: H.
    """

    shards: Shards
    batch: int
    ridge: float
    centre: np.ndarray
    radius: float
    sample_bounds: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    curvature: float

    def constants(self, strong_convexity: float, infimum: float | None) -> Constants:
        """The constants proved above, beside two that the caller has proved."""
        return Constants(
            smoothness=self.curvature + self.ridge,
            strong_convexity=strong_convexity,
            variance=float(self._variances().max()),
            second_moment=float((self._gradient_bounds() ** 2 + self._variances()).max()),
            infimum=infimum,
            radius=self.radius,
            heterogeneity=self._heterogeneity(),
        )

    def _means(self) -> np.ndarray:
        return np.array([self.sample_bounds[s].mean() for s in self.shards.populations()])

    def _variances(self) -> np.ndarray:
        squares = self.sample_bounds**2
        return np.array([squares[s].mean() for s in self.shards.populations()]) / self.batch

    def _gradient_bounds(self) -> np.ndarray:
        whole = self.gradients + self.ridge * self.centre
        smooth = np.linalg.norm(whole, axis=1) + _reach(self.curvatures + self.ridge, self.radius)
        ridge = _reach(np.array(self.ridge), float(np.linalg.norm(self.centre)) + self.radius)
        return np.minimum(smooth, self._means() + ridge)

    def _heterogeneity(self) -> float:
        if len(self.gradients) == 1:
            return 0.0
        apart = np.linalg.norm(self.gradients - self.gradients.mean(axis=0), axis=1)
        smooth = apart + _reach(np.maximum(self.curvatures, self.curvature), self.radius)
        return float(np.mean(np.minimum(smooth, self._means() + self._means().mean()) ** 2))


def _reach(slopes: np.ndarray, radius: float) -> np.ndarray:
    """`slopes` times `radius`, where 0 times infinity is 0."""
    return slopes * radius if np.isfinite(radius) else np.where(slopes > 0, np.inf, 0.0)


def largest_eigenvalue(features: np.ndarray, weights: np.ndarray) -> float:
    """lambda_max of sum_i weight_i x_i x_i', rounded upwards.

    Args:
        features: (N, F) rows x_i.
        weights: (N,) non-negative weights.
    """
    scaled = np.sqrt(weights)[:, None] * features
    gram = scaled.T @ scaled if scaled.shape[1] <= scaled.shape[0] else scaled @ scaled.T
    rounding = 1 + 4 * len(gram) * np.finfo(np.float64).eps
    return float(np.linalg.eigvalsh(gram)[-1] * rounding)
