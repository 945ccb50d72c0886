"""An oracle whose constants are estimates, for losses of which little is proved."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from elastic_consistency.optimization.oracles.base import AbstractOracle, Constants
from elastic_consistency.optimization.oracles.constants_estimator import ConstantsEstimator


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimated(AbstractOracle):
    """`oracle`, with constants that were measured; all of them are marked as estimated.

    Attributes:
        oracle: The problem.
        found: What was measured.
    """

    oracle: AbstractOracle
    found: Constants

    @property
    def dimension(self):
        return self.oracle.dimension

    @property
    def draws_per_job(self):
        return self.oracle.draws_per_job

    def start(self):
        return self.oracle.start()

    def gradient(self, view, draws, worker):
        return self.oracle.gradient(view, draws, worker)

    def mean_gradient(self, x):
        return self.oracle.mean_gradient(x)

    def worker_mean_gradient(self, x, worker):
        return self.oracle.worker_mean_gradient(x, worker)

    def loss(self, x):
        return self.oracle.loss(x)

    def minimiser(self):
        return self.oracle.minimiser()

    def constants(self, radius=float("inf")):
        """The estimates, which hold at the points that were visited, whatever the radius."""
        return replace(self.found, radius=radius)


def estimated_along_descent(
    oracle: AbstractOracle, *, n_workers: int = 1, steps: int = 60, seed: int = 0
) -> Estimated:
    """`oracle` with constants measured at five points of a gradient descent from its start.

    Args:
        oracle: The problem.
        n_workers: Workers whose gradients are sampled; 1 for shared data.
        steps: Steps of the descent, of size 1 / L for the L estimated at the start, >= 5.
        seed: Of the sampling.
    """
    rng = np.random.default_rng(seed)
    x = oracle.start()[None]
    step = 1 / ConstantsEstimator(oracle, x).smoothness(rng).high
    points = [x]
    for k in range(1, steps + 1):
        x = x - step * oracle.mean_gradient(x)
        if k % (steps // 4) == 0:
            points.append(x)
    estimator = ConstantsEstimator(oracle, np.concatenate(points), n_workers=n_workers)
    return Estimated(oracle, estimator.constants(rng))
