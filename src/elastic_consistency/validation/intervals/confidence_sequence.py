"""Confidence sequences by betting: valid at every sample size at once.

A gambler who bets against the claim "the mean is m" cannot become rich if the claim is true
(Ville's inequality). The values of m against which they have become rich are excluded for
ever, whenever one looks.
"""

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import (
    checked,
    checked_confidence,
    estimate_of_mean,
    to_unit,
)

_LARGEST_STAKE = 0.5  # of the capital; below 1, so that no bet can ruin the gambler
_HALVINGS = 40


def _bets(unit: np.ndarray, error_rate: float) -> np.ndarray:
    """(..., R) predictable bets: each one is made before its sample is seen."""
    count = np.arange(1, unit.shape[-1] + 1)
    mean = (0.5 + np.cumsum(unit, axis=-1)) / (count + 1)
    variance = (0.25 + np.cumsum((unit - mean) ** 2, axis=-1)) / (count + 1)
    before = np.concatenate([np.full((*unit.shape[:-1], 1), 0.25), variance[..., :-1]], axis=-1)
    return np.sqrt(2 * np.log(2 / error_rate) / (before * count * np.log1p(count)))


def largest_log_capital(unit: np.ndarray, bets: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """(...) largest log capital so far of betting (..., R) samples to exceed (...) `mean`.

    It falls with the mean: against a smaller claim one would have won more.
    """
    claim = np.asarray(mean)[..., None]
    with np.errstate(divide="ignore"):
        stakes = np.minimum(bets, _LARGEST_STAKE / claim)
    # At the claim 0 a sample above it wins without limit; the limit is approached from above.
    gains = np.log1p(np.where(claim > 0, stakes, bets) * (unit - claim))
    return np.maximum(np.cumsum(gains, axis=-1).max(axis=-1), 0)


def _unit_lower_limit(unit: np.ndarray, error_rate: float) -> np.ndarray:
    """(...) lower limits with one-sided error rate `error_rate` / 2."""
    bets, rich = _bets(unit, error_rate), np.log(2 / error_rate)
    excluded, open_ = np.zeros(unit.shape[:-1]), np.ones(unit.shape[:-1])
    for _ in range(_HALVINGS):
        middle = (excluded + open_) / 2
        is_excluded = largest_log_capital(unit, bets, middle) >= rich
        excluded = np.where(is_excluded, middle, excluded)
        open_ = np.where(is_excluded, open_, middle)
    return excluded


def confidence_sequence_limits(
    samples: np.ndarray, *, low: float, high: float, error_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (...) of the means of (..., R) samples, valid at every R at once.

    Args:
        samples: (..., R) samples in the order in which they were seen; given the past, each
            has the same mean.
        low: Least possible value.
        high: Largest possible value.
        error_rate: Of both sides and all R together.

    Source: Waudby-Smith, Ramdas (2024), arXiv:2010.09686, hedged capital (Theorem 3) with
        predictable plug-in bets, one half of the capital on each side.
    """
    unit = to_unit(checked(samples, at_least=1), low, high)
    lower = _unit_lower_limit(unit, error_rate)
    upper = 1 - _unit_lower_limit(1 - unit, error_rate)
    return low + (high - low) * lower, low + (high - low) * upper


def confidence_sequence(
    samples: np.ndarray, *, low: float, high: float, confidence: float, seed: int | None = None
) -> Estimate:
    """Interval of the mean that a study may look at after every replicate, and stop when it likes.

    Args:
        samples: (R,) one value a replicate, in the order in which they were seen, R >= 1.
        low: Least possible value.
        high: Largest possible value.
        confidence: In (0, 1).
        seed: Seed of the first replicate.
    """
    error_rate, values = checked_confidence(confidence), checked(samples, at_least=1)
    limits = confidence_sequence_limits(values, low=low, high=high, error_rate=error_rate)
    method = Method.CONFIDENCE_SEQUENCE
    return estimate_of_mean(
        values, limits, method, confidence=confidence, width=high - low, seed=seed
    )
