"""An estimate: a figure, its interval, and how much the interval can be trusted."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.execution.quantities import Quantity, Sequence


class Method(Enum):
    """How an interval was made; the value is its name in reports and files."""

    EXACT = "exact"
    EMPIRICAL_BERNSTEIN = "empirical Bernstein"
    CLOPPER_PEARSON = "Clopper-Pearson"
    CONFIDENCE_SEQUENCE = "confidence sequence"
    STUDENT_T = "Student t (approximate)"
    BOOTSTRAP = "bootstrap (approximate)"

    @property
    def may_violate(self) -> bool:
        """Whether its error rate is proved, so that it may call a bound VIOLATED."""
        return self not in (Method.STUDENT_T, Method.BOOTSTRAP)


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured figure with its interval.

    Attributes:
        value: The figure, in the unit of its quantity.
        lower: Lower end of the interval, <= value.
        upper: Upper end of the interval, >= value.
        confidence: Probability with which the interval holds the truth, in (0, 1]; 1 exactly
            for EXACT.
        method: How the interval was made.
        n_replicates: Independent replicates behind it, >= 1.
        n_schedules: Schedules that it speaks of, >= 1.
        seed: Seed of the first replicate, None when nothing was random.
        conditional_on: Names of constants that were estimated, not proved, and entered it.
        deviation: Standard deviation of one replicate, None when unknown.
        width: Width of the known range of one replicate, None when there is none.
        quantity: What was measured, None when it does not matter.
        sequence: Auxiliary sequence that the views were compared with, None likewise.
    """

    value: float
    lower: float
    upper: float
    confidence: float
    method: Method
    n_replicates: int = 1
    n_schedules: int = 1
    seed: int | None = None
    conditional_on: frozenset[str] = frozenset()
    deviation: float | None = None
    width: float | None = None
    quantity: Quantity | None = None
    sequence: Sequence | None = None

    def __post_init__(self) -> None:
        check(not math.isnan(self.value), self, "value", "a number")
        check(self.lower <= self.value, self, "lower", f"<= value = {self.value!r}")
        check(self.upper >= self.value, self, "upper", f">= value = {self.value!r}")
        sure = self.confidence == 1 if self.method is Method.EXACT else 0 < self.confidence < 1
        check(sure, self, "confidence", "1 for an exact value, else a number in (0, 1)")
        check(self.n_replicates >= 1, self, "n_replicates", "a whole number >= 1")
        check(self.n_schedules >= 1, self, "n_schedules", "a whole number >= 1")

    @property
    def error_rate(self) -> float:
        """Probability that the interval misses the truth."""
        return 1 - self.confidence

    def increasing(self, function: Callable[[float], float]) -> "Estimate":
        """The estimate of an increasing function of the figure, such as its square root.

        Deviation and width belong to the old scale and are dropped.
        """
        value, lower, upper = (function(end) for end in (self.value, self.lower, self.upper))
        return replace(self, value=value, lower=lower, upper=upper, deviation=None, width=None)

    def decreasing(self, function: Callable[[float], float]) -> "Estimate":
        """The estimate of a decreasing function of the figure; the ends change places."""
        value, upper, lower = (function(end) for end in (self.value, self.lower, self.upper))
        return replace(self, value=value, lower=lower, upper=upper, deviation=None, width=None)


def exact(
    value: float,
    *,
    n_schedules: int = 1,
    conditional_on: frozenset[str] = frozenset(),
    quantity: Quantity | None = None,
    sequence: Sequence | None = None,
) -> Estimate:
    """The estimate of a figure that was computed, not sampled, as by Schedule.influence()."""
    return Estimate(
        value=value,
        lower=value,
        upper=value,
        confidence=1.0,
        method=Method.EXACT,
        n_schedules=n_schedules,
        conditional_on=conditional_on,
        quantity=quantity,
        sequence=sequence,
    )
