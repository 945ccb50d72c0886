"""Measured heterogeneity: how much the workers' own gradients differ."""

from typing import Any

from elastic_consistency.optimization.arrays import squared_norms
from elastic_consistency.optimization.oracles.base import AbstractOracle

Array = Any


def measured_heterogeneity(oracle: AbstractOracle, x: Array, n_workers: int) -> Array:
    """(R,) zeta^2 = mean over workers of ||grad f_i - grad f||^2 at (R, d) points.

    Exact at these points, up to rounding; a bound over a ball is in `constants`.

    Args:
        oracle: The problem.
        x: (R, d) points.
        n_workers: Number of workers.
    """
    gradients = [oracle.worker_mean_gradient(x, worker) for worker in range(n_workers)]
    mean = sum(gradients[1:], start=gradients[0]) / n_workers
    distances = [squared_norms(gradient - mean) for gradient in gradients]
    return sum(distances[1:], start=distances[0]) / n_workers
