"""Staleness-aware SGD: the step size is divided by the staleness itself."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class StalenessAwareSGD(AbstractRule):
    """x <- x - step_size / max(staleness, 1) * g.

    The second convention beside `DynSGD`, which divides by staleness + 1. Auxiliary sequence:
    the weight of a job is step_size / max(staleness, 1), known when it is added; theorems for
    a constant step size do not apply.

    Attributes:
        step_size: alpha, > 0, the largest step.

    Source: Zhang, Gupta, Lian, Liu (2016), arXiv:1511.05950; also Hermans (2017), thesis,
        equation of DynSGD.
    """

    additive: ClassVar[bool] = True
    constant_step: ClassVar[bool] = False

    step_size: float

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def scale(self, staleness):
        return 1 / max(staleness, 1)

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
