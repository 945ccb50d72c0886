"""What every delay law must say about itself."""

from abc import ABC, abstractmethod

import numpy as np


class AbstractDelayLaw(ABC):
    """The law of one duration; successive durations are independent.

    A law is its quantile function, so that one uniform makes one delay and two laws that are
    given the same uniform are coupled as closely as they can be.
    """

    __slots__ = ()

    @abstractmethod
    def quantile(self, u: np.ndarray) -> np.ndarray:
        """The delay that is exceeded with probability 1 - u.

        Args:
            u: (N,) float64 in the open interval (0, 1).

        Returns:
            (N,) float64, s, >= 0, non-decreasing in u.
        """

    @abstractmethod
    def mean(self) -> float:
        """Expected delay, s; infinite when the law has none."""

    @abstractmethod
    def variance(self) -> float:
        """Variance of the delay, s^2; infinite when the law has none."""
