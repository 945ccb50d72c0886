"""A verdict: what an estimate says about a bound, in a word, in figures and in a sentence."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, final

from elastic_consistency.bounds import Side
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.validation.estimate import Estimate
from elastic_consistency.validation.terms import Term


class Outcome(Enum):
    """What can be said about a bound; the value is its name in reports and files."""

    CONSISTENT = "consistent"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    CONDITIONAL = "conditional"
    NOT_APPLICABLE = "not applicable"


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one estimate and one bound.

    Attributes:
        outcome: The word.
        bound: Name of the bound.
        quantity: What it bounds.
        sequence: Its auxiliary sequence.
        side: On which side of the quantity it lies.
        estimate: What was measured.
        error_rate: Probability with which this verdict may call a true bound VIOLATED.
        bound_value: The bound in numbers, None when it does not apply.
        sentence: The whole in words, for people.
        failed: Assumptions and requirements that do not hold; empty unless NOT_APPLICABLE.
        conditional_on: Estimated constants on which it rests.
        replicates_needed: Replicates after which an INCONCLUSIVE study would decide if the
            present figure were the truth; None where no number of them helps.
        terms: The summands of the bound, largest first.
    """

    outcome: Outcome
    bound: str
    quantity: Quantity
    sequence: Sequence
    side: Side
    estimate: Estimate
    error_rate: float
    bound_value: float | None
    sentence: str
    failed: tuple[str, ...] = ()
    conditional_on: tuple[str, ...] = ()
    replicates_needed: int | None = None
    terms: tuple[Term, ...] = ()

    @property
    def margin(self) -> float | None:
        """Room between figure and bound, in its unit; negative beyond the bound."""
        if self.bound_value is None:
            return None
        room = self.bound_value - self.estimate.value
        if self.side is Side.EQUAL:
            return -abs(room)
        return room if self.side is Side.UPPER else -room

    @property
    def tightness(self) -> float | None:
        """Figure divided by bound: 1 where an upper bound is attained."""
        if self.bound_value is None or self.bound_value == 0:
            return None
        return self.estimate.value / self.bound_value

    @property
    def certified(self) -> bool:
        """Whether it is CONSISTENT by a method with a proved error rate."""
        return self.outcome is Outcome.CONSISTENT and self.estimate.method.may_violate

    def record(self) -> dict[str, Any]:
        """The verdict as plain JSON types."""
        estimate = self.estimate
        return {
            "outcome": self.outcome.value,
            "bound": self.bound,
            "quantity": self.quantity.value,
            "sequence": self.sequence.value,
            "side": self.side.value,
            "bound_value": self.bound_value,
            "value": estimate.value,
            "lower": estimate.lower,
            "upper": estimate.upper,
            "confidence": estimate.confidence,
            "method": estimate.method.value,
            "n_replicates": estimate.n_replicates,
            "n_schedules": estimate.n_schedules,
            "seed": estimate.seed,
            "error_rate": self.error_rate,
            "margin": self.margin,
            "tightness": self.tightness,
            "certified": self.certified,
            "failed": list(self.failed),
            "conditional_on": list(self.conditional_on),
            "replicates_needed": self.replicates_needed,
            "terms": [[t.expression, t.effect.value, t.value, t.share] for t in self.terms],
            "sentence": self.sentence,
        }
