"""A study that stops as soon as it can decide."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.bounds import Bound
from elastic_consistency.validation.intervals import confidence_sequence
from elastic_consistency.validation.judge import Values, judge
from elastic_consistency.validation.verdict import Outcome, Verdict


def judge_until_decided(
    replicates: Callable[[int, int], np.ndarray],
    bound: Bound,
    values: Values,
    *,
    low: float,
    high: float,
    error_rate: float,
    of_mean: Callable[[float], float] = float,
    batch: int = 32,
    most: int = 10_000,
) -> Verdict:
    """Draw replicates batch by batch, look after each, and stop at the first decision.

    The error rate holds although one looks again and again: the interval is a confidence
    sequence. The verdict is INCONCLUSIVE if `most` replicates do not decide.

    Args:
        replicates: replicates(first, count) are the (count,) figures of replicates first, ...
        bound: The theorem.
        values: Number or Estimate for each symbol of the bound.
        low: Least possible figure.
        high: Largest possible figure.
        error_rate: Of the whole study, in (0, 1).
        of_mean: Increasing function that makes the bounded figure of the mean, as the square
            root does of mean squared gaps.
        batch: Replicates from one look to the next, >= 1.
        most: Replicates at most.
    """
    if not 1 <= batch <= most:
        raise ValueError(f"batch must lie in [1, most = {most!r}], got {batch!r}.")
    samples = np.empty(0)
    while True:
        count = min(batch, most - len(samples))
        samples = np.append(samples, replicates(len(samples), count))
        mean = confidence_sequence(samples, low=low, high=high, confidence=1 - error_rate)
        verdict = judge(mean.increasing(of_mean), bound, values, error_rate=error_rate)
        if verdict.outcome is not Outcome.INCONCLUSIVE or len(samples) >= most:
            return verdict
