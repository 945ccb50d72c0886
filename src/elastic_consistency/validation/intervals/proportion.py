"""Clopper-Pearson limits of a probability: how often something happened in n trials."""

from scipy.special import betaincinv

from elastic_consistency.validation.intervals._samples import checked_confidence


def proportion_limits(successes: int, trials: int, *, confidence: float) -> tuple[float, float]:
    """Lower and upper limit of a probability; each side errs with at most half the error rate.

    Args:
        successes: Trials in which it happened, 0 <= successes <= trials.
        trials: Independent trials, >= 1.
        confidence: In (0, 1).

    Source: Clopper, Pearson (1934), doi:10.1093/biomet/26.4.404.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"successes must lie in [0, trials = {trials!r}], got {successes!r}.")
    side, failures = checked_confidence(confidence) / 2, trials - successes
    lower = betaincinv(successes, failures + 1, side) if successes else 0.0
    upper = betaincinv(successes + 1, failures, 1 - side) if failures else 1.0
    return float(lower), float(upper)
