"""Stochastic gradient descent."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class SGD(AbstractRule):
    """x <- x - step_size * buffer.

    Multiplied, then subtracted, so that NumPy and torch agree bit for bit.

    Attributes:
        step_size: alpha, > 0, in units of parameter^2 / loss.

    Source: Robbins, Monro (1951), doi:10.1214/aoms/1177729586.
    """

    additive: ClassVar[bool] = True

    step_size: float

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
