"""What is possible at all on a ball around the minimiser."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.optimization.oracles import AbstractOracle, Constants, LogisticRegression


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Constants on a ball around the minimiser, and what they limit.

    Attributes:
        constants: Of the problem on the ball.
        radius: Of the ball.
        start_distance: R0, distance of the start from the minimiser.
        start_excess: Delta = f(x_0) - f*.
        largest_gradient: Largest norm of one stochastic gradient on the ball; None if unknown.
        heterogeneity: zeta^2, everywhere.
    """

    constants: Constants
    radius: float
    start_distance: float
    start_excess: float
    largest_gradient: float | None
    heterogeneity: float = 0.0

    def ceiling(self, quantity: Quantity) -> float:
        """Largest value on the ball of a squared distance or gradient; infinity if unknown."""
        if quantity is Quantity.SQUARED_DISTANCE:
            return self.radius**2
        gradient = np.inf if self.largest_gradient is None else self.largest_gradient
        return min(self.constants.smoothness * self.radius, gradient) ** 2


def limits_of(oracle: AbstractOracle, radius: float) -> Limits:
    """Limits of `oracle` on the ball of `radius` times the distance of the start.

    Raises:
        ValueError: If the minimiser is not known.
    """
    minimiser, start = oracle.minimiser(), oracle.start()
    constants = oracle.constants()
    if minimiser is None or constants.infimum is None:
        raise ValueError("A certificate needs an oracle whose minimiser is known.")
    distance = float(np.linalg.norm(start - minimiser))
    excess = float(oracle.loss(start[None])[0]) - constants.infimum
    largest = _largest_gradient(oracle, minimiser, radius * distance)
    return Limits(
        oracle.constants(radius * distance),
        radius * distance,
        distance,
        excess,
        largest,
        constants.heterogeneity,
    )


def _largest_gradient(oracle: AbstractOracle, minimiser: np.ndarray, radius: float) -> float | None:
    """kappa max ||x_i|| + ridge (||x*|| + r): the residual p - y has norm at most kappa."""
    if not isinstance(oracle, LogisticRegression):
        return None
    kappa = 1.0 if oracle.n_classes == 2 else 2**0.5
    longest = float(np.linalg.norm(oracle.features, axis=1).max())
    return kappa * longest + oracle.ridge * (float(np.linalg.norm(minimiser)) + radius)
