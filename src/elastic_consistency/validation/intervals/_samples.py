"""What every interval asks of its samples, and the estimate that it makes of them."""

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method


def checked(samples: np.ndarray, *, at_least: int) -> np.ndarray:
    """(..., R) float64 samples, refused when too few or not finite."""
    values = np.asarray(samples, np.float64)
    if values.ndim == 0 or values.shape[-1] < at_least:
        given = values.shape[-1] if values.ndim else 0
        raise ValueError(f"samples must hold at least {at_least} replicates, got {given}.")
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise ValueError(f"samples must be finite, got {bad} that are not.")
    return values


def to_unit(samples: np.ndarray, low: float, high: float) -> np.ndarray:
    """Samples of the range [low, high] mapped to [0, 1]; outside is refused, not clipped."""
    if not low < high:
        raise ValueError(f"low must be < high = {high!r}, got {low!r}.")
    slack = 1e-12 * max(abs(low), abs(high), high - low)
    least, most = float(samples.min()), float(samples.max())
    if least < low - slack or most > high + slack:
        raise ValueError(f"samples must lie in [{low!r}, {high!r}], got {least!r} to {most!r}.")
    return np.clip((samples - low) / (high - low), 0.0, 1.0)


def checked_confidence(confidence: float) -> float:
    """Error rate of a confidence in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}.")
    return 1 - confidence


def estimate_of_mean(
    values: np.ndarray,
    limits: tuple[np.ndarray | float, np.ndarray | float],
    method: Method,
    *,
    confidence: float,
    width: float | None = None,
    seed: int | None = None,
) -> Estimate:
    """The mean of (R,) values with its limits.

    The limits of a running intersection may leave the mean of all samples just outside; the
    estimate then reaches to it.
    """
    value = float(values.mean())
    return Estimate(
        value=value,
        lower=min(float(limits[0]), value),
        upper=max(float(limits[1]), value),
        confidence=confidence,
        method=method,
        n_replicates=len(values),
        seed=seed,
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        width=width,
    )
