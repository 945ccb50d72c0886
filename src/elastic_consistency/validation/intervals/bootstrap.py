"""Bootstrap intervals: for statistics that are no means, approximate."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals._samples import checked, checked_confidence


def bootstrap(
    samples: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    confidence: float,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Percentile interval of a statistic; replicates are resampled whole.

    Args:
        samples: (R,) or (m, R), one column a replicate, R >= 2; paired figures of one
            replicate stay together.
        statistic: Maps (..., R) or (m, ..., R) to (...), along the last axis.
        confidence: In (0, 1).
        resamples: Number of resamples.
        seed: Seed of the resampling.

    Source: Efron (1979), doi:10.1214/aos/1176344552.
    """
    values, rng = checked(samples, at_least=2), np.random.default_rng(seed)
    n_replicates = values.shape[-1]
    chosen = rng.integers(n_replicates, size=(resamples, n_replicates))
    value = float(statistic(values))
    statistics = statistic(values[..., chosen])
    error_rate = checked_confidence(confidence)
    lower, upper = np.quantile(statistics, [error_rate / 2, 1 - error_rate / 2])
    return Estimate(
        value=value,
        lower=min(float(lower), value),
        upper=max(float(upper), value),
        confidence=confidence,
        method=Method.BOOTSTRAP,
        n_replicates=n_replicates,
        seed=seed,
        deviation=float(np.std(statistics, ddof=1) * np.sqrt(n_replicates)),
    )
