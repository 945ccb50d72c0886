"""Two algorithms on common random numbers: replicates are compared in pairs."""

import math

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import checked
from elastic_consistency.validation.intervals.student_t import student_t, student_t_quantile


def paired_difference(
    first: np.ndarray, second: np.ndarray, *, confidence: float = 0.95, seed: int | None = None
) -> Estimate:
    """Interval of E[first - second], replicate by replicate; Student t of the differences.

    Args:
        first: (R,) figure of one algorithm.
        second: (R,) figure of the other with the same seeds, in the same order.
        confidence: In (0, 1).
        seed: Seed of the first replicate.
    """
    first, second = _pairs(first, second)
    return student_t(first - second, confidence=confidence, seed=seed)


def ratio_of_means(
    first: np.ndarray, second: np.ndarray, *, confidence: float = 0.95, seed: int | None = None
) -> Estimate:
    """Interval of E first / E second for paired replicates.

    The q that pass Student's t test of E[first - q second] = 0. It reaches to infinity when
    the mean of `second` cannot be told from 0.

    Args:
        first: (R,) figure of one algorithm.
        second: (R,) figure of the other, with a mean > 0.
        confidence: In (0, 1).
        seed: Seed of the first replicate.

    Source: Fieller (1954), Some problems in interval estimation.
    """
    first, second = _pairs(first, second)
    mean = float(second.mean())
    if mean <= 0:
        raise ValueError(f"second must have a mean > 0, got {mean!r}.")
    lower, upper = _fieller(first, second, confidence)
    value = float(first.mean()) / mean
    return Estimate(
        value=value,
        lower=min(lower, value),
        upper=max(upper, value),
        confidence=confidence,
        method=Method.STUDENT_T,
        n_replicates=len(first),
        seed=seed,
        deviation=float((first - value * second).std(ddof=1)) / mean,
    )


def _fieller(first: np.ndarray, second: np.ndarray, confidence: float) -> tuple[float, float]:
    """Roots of (mean_1 - q mean_2)^2 = t^2 (v_11 - 2 q v_12 + q^2 v_22)."""
    quantile = student_t_quantile(confidence, len(first) - 1)
    covariance = np.cov(first, second) * quantile**2 / len(first)
    (v11, v12), (_, v22) = covariance
    mean_1, mean_2 = first.mean(), second.mean()
    a, b, c = mean_2**2 - v22, mean_1 * mean_2 - v12, mean_1**2 - v11
    if a <= 0:
        return -math.inf, math.inf
    root = math.sqrt(max(b * b - a * c, 0.0))
    return float((b - root) / a), float((b + root) / a)


def saving(
    time: np.ndarray, baseline: np.ndarray, *, confidence: float = 0.95, seed: int | None = None
) -> Estimate:
    """1 - E time / E baseline: the share of the baseline's time that is saved.

    Args:
        time: (R,) seconds to a target, finite; a run that never got there has no saving.
        baseline: (R,) seconds of the baseline with the same seeds, in the same order.
        confidence: In (0, 1).
        seed: Seed of the first replicate.
    """
    ratio = ratio_of_means(time, baseline, confidence=confidence, seed=seed)
    return ratio.decreasing(lambda value: 1 - value)


def _pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = checked(first, at_least=2), checked(second, at_least=2)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"first and second must be (R,) arrays of one length, "
            f"got shapes {first.shape} and {second.shape}."
        )
    return first, second


def mean_over_timing(
    figures: np.ndarray, *, confidence: float = 0.95, seed: int | None = None
) -> Estimate:
    """Average over a timing law, clustered by schedule; Student t of the schedules' means.

    Replicates of one schedule share its timing, so only schedules are independent.

    Args:
        figures: (S, R) figure of R replicates on each of S schedules, S >= 2.
        confidence: In (0, 1).
        seed: Seed of the first schedule.
    """
    values = checked(figures, at_least=1)
    if values.ndim != 2:
        raise ValueError(f"figures must be an (S, R) array, got shape {values.shape}.")
    by_schedule = student_t(values.mean(axis=1), confidence=confidence, seed=seed)
    return Estimate(
        value=by_schedule.value,
        lower=by_schedule.lower,
        upper=by_schedule.upper,
        confidence=confidence,
        method=Method.STUDENT_T,
        n_replicates=values.shape[1],
        n_schedules=values.shape[0],
        seed=seed,
    )
