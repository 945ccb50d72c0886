"""ADAG in the sense of Hermans' thesis: staleness measured as distance, not as a count."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class ADAG(AbstractRule):
    """x <- x - step_size * g / ((latest - view)^2 / step_size + 1), in every coordinate.

    An update counts less in the coordinates that others have moved since it was read. In
    operations: READ(j + 1, server) before ENCODE(j), so that `latest` is the server as it is at
    the commit; without that READ it equals SGD. Auxiliary sequence: it takes what is sent as
    its gradients, none of which is longer than the gradient itself; theorems for a constant
    step size do not apply. The method that a program calls ADAG is `AGN`.

    Attributes:
        step_size: eta, > 0.

    Source: Hermans (2017), thesis, adaptive gradients by distance.
    """

    needs_view: ClassVar[bool] = True
    additive: ClassVar[bool] = True
    constant_step: ClassVar[bool] = False

    step_size: float

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def encode(self, state, gradient, view, latest):
        moved = latest - view
        return gradient / (moved * moved / self.step_size + 1), state

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
