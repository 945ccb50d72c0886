"""A delay that is always the same."""

from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw


@final
@dataclass(frozen=True, slots=True)
class Constant(AbstractDelayLaw):
    """delay = seconds.

    Attributes:
        seconds: The delay, s, >= 0.
    """

    seconds: float

    def __post_init__(self) -> None:
        allowed = 0 <= self.seconds and isfinite(self.seconds)
        check(allowed, self, "seconds", "a finite number of seconds >= 0")

    def quantile(self, u):
        return np.full(len(u), float(self.seconds))

    def mean(self):
        return float(self.seconds)

    def variance(self):
        return 0.0
