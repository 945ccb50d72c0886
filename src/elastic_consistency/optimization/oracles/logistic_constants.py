"""Constants of logistic regression on a ball, each with its proof.

Notation: kappa = 1 for one column (two classes), sqrt(2) for softmax; b the batch; s a shard;
r the radius; w a point of the ball, u its centre.

*Smoothness.* The Hessian of one sample's loss in its logits is p(1-p) <= 1/4 for one column and
diag(p) - p p' <= 1/2 for softmax (Boehning 1992), that is kappa^2 / 4 in both cases. Hence
L = kappa^2 / 4 * lambda_max(sum_i weight_i x_i x_i') + ridge, and c = ridge.

*One sample.* Let l_i be the log-odds of a wrong answer. The residual (p - y) has norm at most
kappa sigmoid(l_i): for one column they are equal; for softmax
(1 - p_y)^2 + sum_{k != y} p_k^2 <= 2 (1 - p_y)^2. The gradient of l_i in the logits has norm at
most kappa, so l_i is kappa ||x_i||-Lipschitz in w. Hence on the ball, without its ridge term,
||g_i(w)|| <= a_i := kappa ||x_i|| sigmoid(l_i(u) + kappa ||x_i|| r).

*Variance.* The ridge term is the same for all samples and b draws are independent, so
sigma^2 <= max_s mean_{i in s} a_i^2 / b.

*Second moment.* E||G||^2 = ||grad f_s||^2 + variance of shard s, and ||grad f_s(w)|| is at most
||grad f_s(u)|| + L_s r, and at most mean_{i in s} a_i + ridge (||u|| + r).

*Heterogeneity.* The ridge cancels in grad f_s - grad f. Two Hessians between 0 and H_s, H differ
by at most max(||H_s||, ||H||) in norm, so
||grad f_s(w) - grad f(w)|| <= ||grad f_s(u) - grad f(u)|| + max(L_s, L) r (without ridges), and
it is at most mean_{i in s} a_i + sum_i weight_i a_i.
"""

from typing import TYPE_CHECKING

import numpy as np

from elastic_consistency.optimization.oracles.base import Constants

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
    largest = _sample_bounds(problem, centre, radius)
    shards = problem.shards.populations()
    variance = max(float(np.mean(largest[s] ** 2)) for s in shards) / problem.batch
    moments = [_second_moment(problem, centre, radius, s, largest[s]) for s in shards]
    smoothness = _curvature(problem, problem.shards.weights()) + problem.ridge
    return Constants(
        smoothness=smoothness,
        strong_convexity=problem.ridge,
        variance=variance,
        second_moment=max(moments),
        infimum=float(problem.loss(centre[None])[0]) if problem.ridge else None,
        radius=radius,
        heterogeneity=_heterogeneity(problem, centre, radius, largest),
    )


def _kappa(problem: "LogisticRegression") -> float:
    return 1.0 if problem.n_classes == 2 else 2**0.5


def _sample_bounds(problem: "LogisticRegression", centre: np.ndarray, radius: float) -> np.ndarray:
    """(N,) largest norm of every sample's gradient on the ball, without the ridge term."""
    slope = _kappa(problem) * np.linalg.norm(problem.features, axis=1)
    reach = slope * min(radius, _INFINITE)
    log_odds = _log_odds_of_error(problem, centre)
    return slope * (np.tanh((log_odds + reach) / 2) + 1) / 2


def _log_odds_of_error(problem: "LogisticRegression", centre: np.ndarray) -> np.ndarray:
    """(N,) log of P(wrong class) / P(right class) under the weights `centre`."""
    logits = problem.features @ centre.reshape(problem.features.shape[1], -1)
    if problem.n_classes == 2:
        return np.where(problem.labels == 1, -logits[:, 0], logits[:, 0])
    right = problem.targets > 0
    others = np.where(right, -np.inf, logits)
    return np.logaddexp.reduce(others, axis=1) - logits[right]


def _curvature(problem: "LogisticRegression", weights: np.ndarray) -> float:
    """kappa^2 / 4 * lambda_max of the weighted Gram matrix, rounded upwards."""
    scaled = np.sqrt(weights)[:, None] * problem.features
    gram = scaled.T @ scaled if scaled.shape[1] <= scaled.shape[0] else scaled @ scaled.T
    rounding = 1 + 4 * len(gram) * np.finfo(np.float64).eps
    return float(np.linalg.eigvalsh(gram)[-1] * rounding * _kappa(problem) ** 2 / 4)


def _shard_gradient(
    problem: "LogisticRegression", centre: np.ndarray, members: np.ndarray
) -> tuple[np.ndarray, float]:
    """(d,) gradient of one shard's loss without ridge at the centre, and its smoothness."""
    weights = np.bincount(members, minlength=len(problem.labels)) / members.size
    residual = problem._residual(centre[None], problem.features, problem.targets)[0]
    gradient = problem.features.T @ (weights[:, None] * residual)
    return gradient.reshape(-1), _curvature(problem, weights)


def _second_moment(
    problem: "LogisticRegression",
    centre: np.ndarray,
    radius: float,
    members: np.ndarray,
    largest: np.ndarray,
) -> float:
    gradient, curvature = _shard_gradient(problem, centre, members)
    at_centre = float(np.linalg.norm(gradient + problem.ridge * centre))
    ridge_part = problem.ridge * (np.linalg.norm(centre) + radius) if problem.ridge else 0.0
    smooth = at_centre + (curvature + problem.ridge) * radius
    mean = float(min(smooth, np.mean(largest) + ridge_part))
    return mean**2 + float(np.mean(largest**2)) / problem.batch


def _heterogeneity(
    problem: "LogisticRegression", centre: np.ndarray, radius: float, largest: np.ndarray
) -> float:
    shards = problem.shards.populations()
    if len(shards) == 1:
        return 0.0
    parts = [_shard_gradient(problem, centre, s) for s in shards]
    mean = np.mean([gradient for gradient, _ in parts], axis=0)
    whole = _curvature(problem, problem.shards.weights())
    overall = float(np.mean([largest[s].mean() for s in shards]))
    distances = [
        min(
            float(np.linalg.norm(gradient - mean)) + max(curvature, whole) * radius,
            float(largest[s].mean()) + overall,
        )
        for (gradient, curvature), s in zip(parts, shards, strict=True)
    ]
    return float(np.mean(np.square(distances)))
