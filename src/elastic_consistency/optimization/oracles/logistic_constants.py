"""Constants of logistic regression on a ball.

kappa = 1 for one column (two classes) and sqrt(2) for softmax; u is the centre of the ball.

*Smoothness.* The Hessian of one sample's loss in its logits is p(1-p) <= 1/4 for one column and
diag(p) - p p' <= 1/2 for softmax (Boehning 1992), that is kappa^2 / 4 in both cases. Hence
L = kappa^2 / 4 * lambda_max(sum_i weight_i x_i x_i') + ridge, and c = ridge.

*One sample.* Let l_i be the log-odds of a wrong answer. The residual p - y has norm at most
kappa sigmoid(l_i): for one column they are equal; for softmax
(1 - p_y)^2 + sum_{k != y} p_k^2 <= 2 (1 - p_y)^2. The gradient of l_i in the logits has norm at
most kappa, so l_i is kappa ||x_i||-Lipschitz in w. Hence without the ridge term
||grad l_i(w)|| <= a_i := kappa ||x_i|| sigmoid(l_i(u) + kappa ||x_i|| r) on the ball.

The rest follows as for any finite sum.
"""

from typing import TYPE_CHECKING

import numpy as np

from elastic_consistency.optimization.oracles.base import Constants
from elastic_consistency.optimization.oracles.finite_sum_constants import (
    FiniteSum,
    largest_eigenvalue,
)
from elastic_consistency.optimization.oracles.softmax import probabilities

if TYPE_CHECKING:
    from elastic_consistency.optimization.oracles.logistic_regression import LogisticRegression

_INFINITE = 1e100  # stands in for an infinite radius where infinity times 0 would arise


def logistic_constants(
    problem: "LogisticRegression", centre: np.ndarray, radius: float
) -> Constants:
    """Constants on the ball of `radius` around `centre`, proved in the module's docstring.

    Args:
        problem: The oracle.
        centre: (d,) centre of the ball, the minimiser where there is one.
        radius: Radius of the ball, infinity for the whole space.
    """
    shards = problem.samples
    weights = [shards.weights_of(worker) for worker in range(len(shards.populations()))]
    bend = _kappa(problem) ** 2 / 4
    finite_sum = FiniteSum(
        shards=shards,
        batch=problem.batch,
        ridge=problem.ridge,
        centre=centre,
        radius=radius,
        sample_bounds=largest_sample_gradients(problem, centre, radius),
        gradients=np.stack([_gradient(problem, centre, w) for w in weights]),
        curvatures=np.array([bend * largest_eigenvalue(problem.features, w) for w in weights]),
        curvature=bend * largest_eigenvalue(problem.features, shards.weights()),
    )
    infimum = float(problem.loss(centre[None])[0]) if problem.ridge else None
    return finite_sum.constants(problem.ridge, infimum)


def _kappa(problem: "LogisticRegression") -> float:
    return 1.0 if problem.n_classes == 2 else 2**0.5


def largest_sample_gradients(
    problem: "LogisticRegression", centre: np.ndarray, radius: float
) -> np.ndarray:
    """(N,) a_i, bound of the norm of each sample's gradient on the ball, without ridge.

    Args:
        problem: The oracle.
        centre: (d,) centre of the ball.
        radius: Radius of the ball.
    """
    slope = _kappa(problem) * np.linalg.norm(problem.features, axis=1)
    log_odds = _log_odds_of_error(problem, centre) + slope * min(radius, _INFINITE)
    return slope * (np.tanh(log_odds / 2) + 1) / 2


def _log_odds_of_error(problem: "LogisticRegression", centre: np.ndarray) -> np.ndarray:
    """(N,) log of P(wrong class) / P(right class) under the weights `centre`."""
    logits = _logits(problem, centre)
    if problem.n_classes == 2:
        return np.where(problem.labels == 1, -logits[:, 0], logits[:, 0])
    right = problem.targets > 0
    others = np.where(right, -np.inf, logits)
    return np.logaddexp.reduce(others, axis=1) - logits[right]


def _gradient(problem: "LogisticRegression", centre: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(d,) gradient at the centre of the weighted losses, without ridge."""
    residual = probabilities(np, _logits(problem, centre)) - problem.targets
    return (problem.features.T @ (weights[:, None] * residual)).reshape(-1)


def _logits(problem: "LogisticRegression", centre: np.ndarray) -> np.ndarray:
    return problem.features @ centre.reshape(problem.features.shape[1], -1)
