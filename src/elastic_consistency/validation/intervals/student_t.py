"""Student's t intervals: exact for normal replicates, approximate for others."""

import numpy as np
from scipy.special import stdtrit

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import (
    checked,
    checked_confidence,
    estimate_of_mean,
)


def student_t_quantile(confidence: float, degrees: int) -> float:
    """The t for which P(|T| <= t) = `confidence` with `degrees` degrees of freedom."""
    return float(stdtrit(degrees, 1 - checked_confidence(confidence) / 2))


def student_t(samples: np.ndarray, *, confidence: float, seed: int | None = None) -> Estimate:
    """Mean +- t s / sqrt(R): approximate, so it may never call a bound VIOLATED.

    Args:
        samples: (R,) one value a replicate, R >= 2.
        confidence: In (0, 1).
        seed: Seed of the first replicate.
    """
    values = checked(samples, at_least=2)
    value, deviation = float(values.mean()), float(values.std(ddof=1))
    radius = student_t_quantile(confidence, len(values) - 1) * deviation / np.sqrt(len(values))
    limits = (value - radius, value + radius)
    return estimate_of_mean(values, limits, Method.STUDENT_T, confidence=confidence, seed=seed)
