"""The interface of an oracle: a problem, its stochastic gradients and its known constants."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

Array = Any


@final
@dataclass(frozen=True, slots=True)
class Constants:
    """What is known of an oracle on a ball around its minimiser (or its start).

    Attributes:
        smoothness: L, Lipschitz constant of the gradient.
        strong_convexity: c, lower bound of the curvature; 0 for a loss that is only convex,
            negative for one that is not, minus infinity where nothing is known.
        variance: sigma^2, largest E||G - grad f_i||^2 on the ball, over all workers i.
        second_moment: M^2, largest E||G||^2 on the ball, over all workers.
        infimum: f*, None where it is unknown.
        radius: Radius of the ball; infinity where the constants hold everywhere.
        estimated: Names of the fields that are estimates, not proofs.
        heterogeneity: zeta^2, largest mean over workers of ||grad f_i - grad f||^2 on the
            ball; 0 when all workers draw from the same data.
    """

    smoothness: float
    strong_convexity: float
    variance: float
    second_moment: float
    infimum: float | None
    radius: float
    estimated: frozenset[str] = frozenset()
    heterogeneity: float = 0.0


def unknown_constants(infimum: float | None, radius: float, *, shared: bool) -> Constants:
    """Constants of a loss of which nothing is proved but its infimum.

    Args:
        infimum: Lower bound of the loss, None if unknown.
        radius: Radius of the ball.
        shared: Whether all workers draw from the same data.
    """
    unknown = float("inf")
    return Constants(
        smoothness=unknown,
        strong_convexity=-unknown,
        variance=unknown,
        second_moment=unknown,
        infimum=infimum,
        radius=radius,
        heterogeneity=0.0 if shared else unknown,
    )


class AbstractOracle(ABC):
    """A problem min f(x), x in R^d. A frozen dataclass; it holds data but no randomness.

    A stochastic gradient is a function of the view and of `draws_per_job` uniforms, which the
    executor looks up by seed and job: the job number fixes the sample.
    """

    @property
    @abstractmethod
    def dimension(self) -> int:
        """d, number of parameters."""

    @property
    @abstractmethod
    def draws_per_job(self) -> int:
        """Uniforms that one stochastic gradient consumes; 0 when it is deterministic."""

    @abstractmethod
    def start(self) -> Array:
        """(d,) float64 starting point x_0."""

    @abstractmethod
    def gradient(self, view: Array, draws: Array, worker: int) -> Array:
        """(R, d) stochastic gradients, one a replicate.

        Args:
            view: (R, d) points.
            draws: (R, draws_per_job) uniforms in (0, 1), a NumPy array for every backend.
            worker: Worker that computes; matters when data differ between workers.
        """

    @abstractmethod
    def mean_gradient(self, x: Array) -> Array:
        """(R, d) gradients of f at (R, d) points."""

    def worker_mean_gradient(self, x: Array, worker: int) -> Array:
        """(R, d) gradients at (R, d) points of f_i, the mean loss of one worker's own data.

        f is the plain mean of the f_i, and all are equal when workers share their data.
        """
        return self.mean_gradient(x)

    @abstractmethod
    def loss(self, x: Array) -> Array:
        """(R,) values of f at (R, d) points."""

    @abstractmethod
    def minimiser(self) -> Array | None:
        """(d,) the minimiser x*, or None where there is none or it is unknown."""

    @abstractmethod
    def constants(self, radius: float = float("inf")) -> Constants:
        """Constants on the ball of `radius` around the minimiser (else around the start)."""
