"""Suprema of means, over steps or over schedules, without the upward bias of a maximum."""

from collections.abc import Sequence as Sequence_

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import checked, checked_confidence
from elastic_consistency.validation.intervals.confidence_sequence import (
    confidence_sequence_limits,
)
from elastic_consistency.validation.intervals.empirical_bernstein import (
    empirical_bernstein_limits,
)

_LIMITS = {
    Method.EMPIRICAL_BERNSTEIN: empirical_bernstein_limits,
    Method.CONFIDENCE_SEQUENCE: confidence_sequence_limits,
}


def supremum_of_means(
    samples: np.ndarray,
    *,
    low: float,
    high: float,
    confidence: float,
    method: Method = Method.EMPIRICAL_BERNSTEIN,
    seed: int | None = None,
) -> Estimate:
    """Interval of sup_t E X_t, every t with its share of the error rate.

    The largest sample mean is above the supremum on average; the interval is honest because
    it is the largest of T intervals that hold together.

    Args:
        samples: (T, R) value at each step of each replicate.
        low: Least possible value.
        high: Largest possible value.
        confidence: In (0, 1), for all steps together.
        method: EMPIRICAL_BERNSTEIN, or CONFIDENCE_SEQUENCE for studies that stop early.
        seed: Seed of the first replicate.
    """
    values = checked(samples, at_least=2)
    if method not in _LIMITS:
        raise ValueError(f"method must be one of {[m.name for m in _LIMITS]}, got {method!r}.")
    share = checked_confidence(confidence) / len(values)
    lower, upper = _LIMITS[method](values, low=low, high=high, error_rate=share)
    means = values.mean(axis=-1)
    top = int(np.argmax(means))
    return Estimate(
        value=float(means[top]),
        lower=min(float(lower.max()), float(means[top])),
        upper=max(float(upper.max()), float(means[top])),
        confidence=confidence,
        method=method,
        n_replicates=values.shape[-1],
        seed=seed,
        deviation=float(values[top].std(ddof=1)),
        width=high - low,
    )


def largest(estimates: Sequence_[Estimate]) -> Estimate:
    """The largest of several figures, for instance of one figure on several schedules.

    Their error rates add up; the method is the weakest of them.
    """
    if not estimates:
        raise ValueError("estimates must hold at least one estimate, got none.")
    top = max(estimates, key=lambda estimate: estimate.value)
    order = list(Method)
    weakest = max((estimate.method for estimate in estimates), key=order.index)
    error_rate = sum(estimate.error_rate for estimate in estimates)
    return Estimate(
        value=top.value,
        lower=max(estimate.lower for estimate in estimates),
        upper=max(estimate.upper for estimate in estimates),
        confidence=1 - error_rate,
        method=weakest,
        n_replicates=min(estimate.n_replicates for estimate in estimates),
        n_schedules=sum(estimate.n_schedules for estimate in estimates),
        seed=top.seed,
        conditional_on=frozenset().union(*(e.conditional_on for e in estimates)),
        quantity=top.quantity,
        sequence=top.sequence,
    )
