"""Empirical Bernstein intervals: fixed sample size, known range, no other assumption."""

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import (
    checked,
    checked_confidence,
    estimate_of_mean,
    to_unit,
)


def empirical_bernstein_radius(
    deviation: np.ndarray | float, n_replicates: np.ndarray | int, width: float, error_rate: float
) -> np.ndarray | float:
    """Radius s sqrt(2 ln(4/delta) / n) + 7 (high - low) ln(4/delta) / (3 (n - 1)).

    Each of the two sides has error rate delta / 2.

    Args:
        deviation: s, sample standard deviation (with n - 1).
        n_replicates: n, >= 2.
        width: high - low of the known range.
        error_rate: delta, of both sides together.

    Source: Maurer, Pontil (2009), arXiv:0907.3740, Theorem 4, on each side.
    """
    logarithm = np.log(4 / error_rate)
    noise = deviation * np.sqrt(2 * logarithm / n_replicates)
    return noise + 7 * width * logarithm / (3 * (n_replicates - 1))


def empirical_bernstein_limits(
    samples: np.ndarray, *, low: float, high: float, error_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (...) of the means of (..., R) independent samples."""
    unit = to_unit(checked(samples, at_least=2), low, high)
    mean, deviation = unit.mean(axis=-1), unit.std(axis=-1, ddof=1)
    radius = empirical_bernstein_radius(deviation, unit.shape[-1], 1.0, error_rate)
    lower, upper = np.clip(mean - radius, 0, 1), np.clip(mean + radius, 0, 1)
    return low + (high - low) * lower, low + (high - low) * upper


def empirical_bernstein(
    samples: np.ndarray, *, low: float, high: float, confidence: float, seed: int | None = None
) -> Estimate:
    """Interval of the mean of independent samples of [low, high], for any law of them.

    The number of replicates must not depend on what they show; `confidence_sequence` is for
    studies that stop early.

    Args:
        samples: (R,) one value a replicate, R >= 2.
        low: Least possible value.
        high: Largest possible value.
        confidence: In (0, 1).
        seed: Seed of the first replicate.
    """
    error_rate, values = checked_confidence(confidence), checked(samples, at_least=2)
    limits = empirical_bernstein_limits(values, low=low, high=high, error_rate=error_rate)
    method = Method.EMPIRICAL_BERNSTEIN
    return estimate_of_mean(
        values, limits, method, confidence=confidence, width=high - low, seed=seed
    )
