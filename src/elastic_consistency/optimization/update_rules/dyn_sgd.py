"""DynSGD: an update counts less the staler it is, from staleness 1 on."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class DynSGD(AbstractRule):
    """x <- x - step_size / (staleness + 1) * g.

    A fresh update counts in full and one of staleness 1 counts half; `StalenessAwareSGD`
    counts both in full. Auxiliary sequence: the weight of a job is step_size / (staleness + 1),
    known when it is added. With the plain weight the started gap grows without limit, and
    theorems for a constant step size do not apply.

    Attributes:
        step_size: alpha, > 0, the largest step.

    Source: Jiang, Cui, Zhang, Yu (2017), doi:10.1145/3035918.3035933; this divisor: Hermans
        (2017), thesis, algorithm of DynSGD.
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
        return 1 / (staleness + 1)

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
