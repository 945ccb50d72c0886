"""What theorems speak of, in expectation and exactly, for noisy gradients of a quadratic.

With u = v - x* and G_j = lambda u_j + noise_j in every coordinate, the coefficients C of a
schedule make the views u = u_0 - alpha C G a triangular system. It is solved once for the means
and once for the noise: no run, no replicates, no interval.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import solve_triangular

from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.schedule import Schedule
from elastic_consistency.validation.gaps import view_difference


@final
@dataclass(frozen=True, slots=True, eq=False)
class Expectations:
    """Expectations at the points x_k of the started sequence and at the views v_k; J jobs.

    Attributes:
        squared_gradient: (J,) E||grad f(x_k)||^2.
        squared_distance: (J,) E||x_k - x*||^2.
        suboptimality_at_view: (J,) E[f(v_k) - f*].
        squared_step: (J,) E||G_k||^2 of the stochastic gradient at v_k.
        squared_gap: (J,) E||x_k - v_k||^2 / alpha^2.
    """

    squared_gradient: np.ndarray
    squared_distance: np.ndarray
    suboptimality_at_view: np.ndarray
    squared_step: np.ndarray
    squared_gap: np.ndarray


def expectations(schedule: Schedule, problem: Quadratic, step_size: float) -> Expectations:
    """Every expectation of plain SGD on `schedule`.

    Args:
        schedule: A drained schedule with one block and no discarded job.
        problem: The same for all workers; any variance.
        step_size: alpha, constant.

    Raises:
        ValueError: If the workers have problems of their own, or the schedule has blocks.
    """
    if problem.offsets is not None:
        raise ValueError("problem.offsets must be None, got workers with minimisers of their own.")
    if schedule.metadata.n_blocks > 1:
        raise ValueError(f"schedule must have one block, got {schedule.metadata.n_blocks}.")
    influence = schedule.influence()
    shares = np.tri(len(influence.views), k=-1) * influence.shares[0]
    lag = view_difference(schedule, Sequence.STARTED)[:, 0]
    sums = np.zeros((5, len(shares)))
    start = problem.start() - problem.minimiser()
    for curvature, apart in zip(problem.spectrum, start, strict=True):
        variance = problem.variance / problem.dimension
        known = (step_size * influence.views[:, 0], step_size * shares, step_size * lag)
        sums += _of_coordinate(*known, curvature, apart, variance)
    gradient, distance, suboptimality, step, gap = sums
    return Expectations(gradient, distance, suboptimality, step, gap / step_size**2)


def _of_coordinate(
    views: np.ndarray,
    shares: np.ndarray,
    lag: np.ndarray,
    curvature: float,
    apart: float,
    variance: float,
) -> np.ndarray:
    """(5, J) contributions of one coordinate; the (J, J) coefficients hold alpha."""
    identity = np.eye(len(views))
    # One column for the start and one for each noise; the rows are views.
    known = np.column_stack([np.full(len(views), apart), -views])
    at_view = solve_triangular(identity + curvature * views, known, lower=True)
    gradient = curvature * at_view
    gradient[:, 1:] += identity
    at_point = -shares @ gradient
    at_point[:, 0] += apart
    square, step, gap = (
        _second_moment(part, variance) for part in (at_point, gradient, lag @ gradient)
    )
    excess = curvature / 2 * _second_moment(at_view, variance)
    return np.stack([curvature**2 * square, square, excess, step, gap])


def _second_moment(columns: np.ndarray, variance: float) -> np.ndarray:
    return columns[:, 0] ** 2 + variance * (columns[:, 1:] ** 2).sum(axis=1)
