"""What a design can detect, and the replicates that a wanted answer needs, before any run."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals.confidence_sequence import (
    confidence_sequence_limits,
)
from elastic_consistency.validation.intervals.empirical_bernstein import (
    empirical_bernstein_radius,
)
from elastic_consistency.validation.intervals.student_t import student_t_quantile

_MOST_REPLICATES = 10**12


def radius(
    method: Method,
    n_replicates: int,
    *,
    deviation: float,
    confidence: float,
    width: float | None = None,
) -> float:
    """Half the length of the interval that a design will give, if its deviation is known.

    For CONFIDENCE_SEQUENCE it is the radius of the empirical Bernstein sequence at its own
    sample size, which betting roughly attains; `detection_rate_by_simulation` is exact.

    Args:
        method: How the interval will be made.
        n_replicates: R, >= 2.
        deviation: Standard deviation of one replicate.
        confidence: Of the interval, after the share of the other claims.
        width: Width of the known range of one replicate; needed unless EXACT or approximate.
    """
    if method is Method.EXACT:
        return 0.0
    if n_replicates < 2:
        raise ValueError(f"n_replicates must be >= 2, got {n_replicates!r}.")
    if method is Method.BOOTSTRAP:
        return float(ndtri((1 + confidence) / 2)) * deviation / math.sqrt(n_replicates)
    if method is Method.STUDENT_T:
        quantile = student_t_quantile(confidence, n_replicates - 1)
        return quantile * deviation / math.sqrt(n_replicates)
    if width is None:
        raise ValueError(f"width must be the width of a known range for {method.name}, got None.")
    if method is Method.EMPIRICAL_BERNSTEIN:
        rate = 1 - confidence
        return float(empirical_bernstein_radius(deviation, n_replicates, width, rate))
    return _sequence_radius(deviation / width, n_replicates, 1 - confidence) * width


def _sequence_radius(deviation: float, n_replicates: int, error_rate: float) -> float:
    """Smallest (ln(2 / delta) + R psi(bet) s^2) / (R bet) over bets: samples of [0, 1]."""
    bets = np.geomspace(1e-4, 0.99, 400)
    psi = -np.log1p(-bets) - bets
    cost = np.log(2 / error_rate) + n_replicates * psi * deviation**2
    return float((cost / (n_replicates * bets)).min())


def detection_rate(
    excess: float,
    method: Method,
    n_replicates: int,
    *,
    deviation: float,
    confidence: float,
    width: float | None = None,
) -> float:
    """Probability that the interval of a mean that exceeds its bound by `excess` excludes it.

    The sample mean is taken as normal and the sample deviation as known, which is good to a
    few per cent from thirty replicates on.
    """
    if method is Method.EXACT:
        return float(excess > 0)
    reach = radius(method, n_replicates, deviation=deviation, confidence=confidence, width=width)
    if deviation == 0:
        return float(excess > reach)
    return float(ndtr((excess - reach) / (deviation / math.sqrt(n_replicates))))


def detection_rate_by_simulation(
    law: Callable[[np.random.Generator, tuple[int, int]], np.ndarray],
    bound: float,
    n_replicates: int,
    *,
    low: float,
    high: float,
    confidence: float,
    studies: int = 1000,
    seed: int = 0,
) -> float:
    """Share of simulated studies whose confidence sequence has excluded `bound` by its end.

    Args:
        law: law(rng, (studies, R)) draws replicates, for instance a shifted pilot sample.
        bound: Upper bound of the mean that is to be refuted.
        n_replicates: R.
        low: Least possible value.
        high: Largest possible value.
        confidence: Of the sequence.
        studies: Simulated studies.
        seed: Seed of the simulation.
    """
    samples = law(np.random.default_rng(seed), (studies, n_replicates))
    lower, _ = confidence_sequence_limits(samples, low=low, high=high, error_rate=1 - confidence)
    return float((lower > bound).mean())


def smallest_detectable(
    method: Method,
    n_replicates: int,
    *,
    deviation: float,
    confidence: float,
    width: float | None = None,
    power: float = 0.9,
) -> float:
    """Smallest excess over a bound that is called VIOLATED with probability `power`."""
    if method is Method.EXACT:
        return 0.0
    reach = radius(method, n_replicates, deviation=deviation, confidence=confidence, width=width)
    return reach + float(ndtri(power)) * deviation / math.sqrt(n_replicates)


def replicates_needed(
    excess: float,
    method: Method,
    *,
    deviation: float,
    confidence: float,
    width: float | None = None,
    power: float = 0.9,
) -> int | None:
    """Fewest replicates that decide a difference of `excess` with probability `power`.

    Returns:
        R, or None when no affordable number decides (`excess` is 0, or nearly).
    """
    if method is Method.EXACT:
        return 1

    def decides(n_replicates: int) -> bool:
        reach = smallest_detectable(
            method,
            n_replicates,
            deviation=deviation,
            confidence=confidence,
            width=width,
            power=power,
        )
        return reach <= abs(excess)

    if excess == 0 or not decides(_MOST_REPLICATES):
        return None
    return _first(decides, 2, _MOST_REPLICATES)


def _first(holds: Callable[[int], bool], first: int, last: int) -> int:
    """First whole number at which a claim holds that then goes on holding."""
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if holds(middle) else (middle + 1, last)
    return first


def replicates_to_decide(estimate: Estimate, limit: float, *, error_rate: float) -> int | None:
    """Replicates after which an interval like this one would exclude `limit`.

    It takes the present figure as the truth. Where the deviation is unknown the interval is
    taken to shrink like one over the square root.
    """
    gap = abs(estimate.value - limit)
    if estimate.deviation is not None:
        return replicates_needed(
            gap,
            estimate.method,
            deviation=estimate.deviation,
            confidence=1 - error_rate,
            width=estimate.width,
        )
    facing = estimate.upper if limit >= estimate.value else estimate.lower
    reach = abs(facing - estimate.value)
    if gap == 0 or not math.isfinite(reach / gap):
        return None
    return max(estimate.n_replicates, math.ceil(estimate.n_replicates * (reach / gap) ** 2))


def detectable_gaps(
    n_replicates: int, *, bound: float, ceiling: float, error_rate: float, power: float = 0.9
) -> tuple[float, float]:
    """Smallest gaps B above `bound` that empirical Bernstein calls VIOLATED, before any run.

    The first is for squared gaps that do not vary, the second for those that vary as much as a
    law between 0 and ceiling^2 can. A gap beyond the ceiling cannot be, let alone be detected.

    Args:
        n_replicates: R, >= 2.
        bound: B of the theorem.
        ceiling: Largest gap that a replicate can have; below `bound` nothing can be detected.
        error_rate: Of one step of one claim.
        power: Probability of detection that is meant.

    Source: Bhatia, Davis (2000), A better bound on the variance, for the second.
    """
    width, mean = ceiling**2, max(bound**2, ceiling**2 / 2)
    design = {"confidence": 1 - error_rate, "width": width, "power": power}
    steady, varied = (
        smallest_detectable(Method.EMPIRICAL_BERNSTEIN, n_replicates, deviation=s, **design)
        for s in (0.0, math.sqrt(mean * max(width - mean, 0.0)))
    )
    return math.sqrt(bound**2 + steady), math.sqrt(bound**2 + varied)
