"""Delay-adaptive SGD: the step size shrinks only where staleness demands it."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class DelayAdaptive(AbstractRule):
    """x <- x - min(step_size, 1 / (smoothness * staleness)) * g.

    Auxiliary sequence: the weight of a job is its own step size; theorems for a constant step
    size do not apply, and the one for these steps asks for step_size <= 1 / (3 L n).

    Attributes:
        step_size: eta, > 0, the largest step.
        smoothness: L, > 0, of the loss.

    Source: Mishchenko, Bach, Even, Woodworth (2022), arXiv:2206.07638, step sizes with
        explicit constants.
    """

    additive: ClassVar[bool] = True
    constant_step: ClassVar[bool] = False

    step_size: float
    smoothness: float

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 < self.smoothness < float("inf"), self, "smoothness", "a finite number > 0")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def scale(self, staleness):
        if staleness == 0:
            return 1.0
        return min(1.0, 1 / (self.smoothness * staleness * self.step_size))

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
