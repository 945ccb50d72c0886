"""Delay laws that fit measured seconds, with the goodness of each fit."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import digamma

from elastic_consistency.simulator.delays import (
    Constant,
    Empirical,
    Exponential,
    Gamma,
    LogNormal,
    Pareto,
    ShiftedExponential,
)

_GRID = 20_000
_TAIL = 0.05
_BAND = 1.36  # of Kolmogorov's distribution: exceeded once in twenty times


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """One law beside the data.

    Attributes:
        law: The law.
        distance: Kolmogorov-Smirnov distance, in [0, 1]; a sample of n values of the law itself
            exceeds 1.36 / sqrt(n) once in twenty times.
        mean_error: (mean of the law - mean of the data) / mean of the data.
        count: Values in the data.
        tail: Share of the data above the law's 95 % quantile, about 0.05 if the law's tail is
            theirs; stragglers are in the tail, to which the distance is nearly blind.
    """

    law: Any
    distance: float
    mean_error: float
    count: int
    tail: float

    @property
    def band(self) -> float:
        """Half the width of the 95 % band around the data's distribution function."""
        return _BAND / self.count**0.5

    @property
    def tail_limits(self) -> tuple[float, float]:
        """Between these the share in the tail stays 95 times in a hundred, if the law is true."""
        from scipy.stats import binom

        low, high = binom.interval(0.95, self.count, _TAIL)
        return float(low) / self.count, float(high) / self.count

    @property
    def holds(self) -> bool:
        """Whether the data contradict neither the law's body nor its tail, each at 5 %."""
        low, high = self.tail_limits
        return self.distance <= self.band and low <= self.tail <= high


def fit_laws(seconds: np.ndarray) -> tuple[Fit, ...]:
    """Every law that can be fitted to (N,) positive seconds, the nearest first.

    Parameters by maximum likelihood. Data that do not vary, or a single value, give a constant.
    """
    if len(seconds) == 1 or np.ptp(seconds) == 0:
        return (Fit(Constant(float(seconds[0])), 0.0, 0.0, len(seconds), _TAIL),)
    laws = [_exponential(seconds), _shifted(seconds), _log_normal(seconds), _pareto(seconds)]
    laws.append(_gamma(seconds))
    fits = [_fit(law, seconds) for law in laws if law is not None]
    return tuple(sorted(fits, key=lambda fit: fit.distance))


def law_of(seconds: np.ndarray, *, empirical: bool = False) -> Any:
    """The nearest law, or the data themselves."""
    if empirical:
        return Empirical(tuple(float(value) for value in np.sort(seconds)))
    return fit_laws(seconds)[0].law


def distance_to(law: Any, seconds: np.ndarray) -> float:
    """Kolmogorov-Smirnov distance between (N,) seconds and a law, from its quantiles."""
    levels = (np.arange(_GRID) + 0.5) / _GRID
    quantiles = law.quantile(levels)
    ordered = np.sort(seconds)
    below = np.searchsorted(quantiles, ordered, side="left") / _GRID
    until = np.searchsorted(quantiles, ordered, side="right") / _GRID
    rank = np.arange(len(ordered))
    return float(
        max((below - rank / len(ordered)).max(), ((rank + 1) / len(ordered) - until).max())
    )


def _fit(law: Any, seconds: np.ndarray) -> Fit:
    mean = float(seconds.mean())
    beyond = float((seconds > law.quantile(np.array([1 - _TAIL]))[0]).mean())
    error = (law.mean() - mean) / mean
    return Fit(law, distance_to(law, seconds), error, len(seconds), beyond)


def _exponential(seconds: np.ndarray) -> Exponential:
    return Exponential(float(seconds.mean()))


def _shifted(seconds: np.ndarray) -> ShiftedExponential:
    shift = float(seconds.min())
    return ShiftedExponential(shift, float(seconds.mean()) - shift)


def _log_normal(seconds: np.ndarray) -> LogNormal:
    logarithms = np.log(seconds)
    return LogNormal(float(np.exp(logarithms.mean())), float(logarithms.std()))


def _pareto(seconds: np.ndarray) -> Pareto | None:
    minimum = float(seconds.min())
    tail = 1 / float(np.log(seconds / minimum).mean())
    return Pareto(minimum, tail) if tail > 1 else None


def _gamma(seconds: np.ndarray) -> Gamma:
    """The shape k with ln k - digamma(k) = ln mean - mean ln, which falls in k."""
    gap = np.log(seconds.mean()) - np.log(seconds).mean()
    low, high = 1e-6, 1e12
    for _ in range(120):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if np.log(middle) - digamma(middle) < gap else (middle, high)
    return Gamma(float(low), float(seconds.mean() / low))
