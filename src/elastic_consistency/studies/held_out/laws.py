"""A law for measured seconds: the nearest on offer, or the data if none fits body and tail."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency.simulator.delays import Constant, Empirical
from elastic_consistency.studies.traces.fitting import Fit, fit_laws

_FEWEST = 8  # values from which a law of two parameters is told apart from another
_RESOLUTION = 1e-9  # relative; differences of times in double precision vary by less


@final
@dataclass(frozen=True, slots=True)
class FittedLaw:
    """What stands for one phase in the simulation.

    Attributes:
        phase: Its name.
        count: Values that it was fitted to.
        mean_s: Their mean.
        law: The law that is used.
        nearest: The nearest law on offer and how near it is; None where the data did not vary.
        fits: Whether the nearest law fits in body and tail, so that it is the law that is used.
    """

    phase: str
    count: int
    mean_s: float
    law: Any
    nearest: Fit | None
    fits: bool


def fit_phase(phase: str, seconds: np.ndarray) -> FittedLaw:
    """A law for (N,) seconds of one phase; an empty phase takes no time."""
    # Clocks of two processes may err by more than a phase lasts.
    seconds = np.maximum(seconds, 0.0)
    if not len(seconds) or not seconds.any():
        return FittedLaw(phase, len(seconds), 0.0, Constant(0.0), None, fits=True)
    mean = float(seconds.mean())
    if np.ptp(seconds) <= _RESOLUTION * mean:
        return FittedLaw(phase, len(seconds), mean, Constant(mean), None, fits=True)
    positive = seconds[seconds > 0]
    nearest = fit_laws(positive)[0]
    fits = len(positive) == len(seconds) >= _FEWEST and nearest.holds
    law = nearest.law if fits else Empirical.from_samples(seconds)
    return FittedLaw(phase, len(seconds), mean, law, nearest, fits=fits)
