"""Student's t intervals: exact for normal replicates, approximate for others."""

import numpy as np
from scipy.special import stdtrit

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import checked, checked_confidence


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
    quantile = student_t_quantile(confidence, len(values) - 1)
    radius = quantile * deviation / np.sqrt(len(values))
    return Estimate(
        value=value,
        lower=float(value - radius),
        upper=float(value + radius),
        confidence=confidence,
        method=Method.STUDENT_T,
        n_replicates=len(values),
        seed=seed,
        deviation=deviation,
    )
