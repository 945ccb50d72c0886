"""How near each constant B comes to what really happens: worst found / bound.

Every constant of the catalogue has a case here: a system, the worst schedule and gradients that
are known or were found for it, and the constant at its numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import final

from elastic_consistency.bounds import Bound, list_bounds
from elastic_consistency.execution.quantities import Quantity


class Evidence(Enum):
    """Where the worst figure comes from."""

    COEFFICIENTS = "exact coefficients of a schedule"
    EXECUTED = "executed with the gradients that are known to be worst"
    SEARCHED = "found by a search; more may be possible"


@final
@dataclass(frozen=True, slots=True)
class Case:
    """A system that comes near to one constant.

    Attributes:
        bound: Name of the constant.
        system: The system and its adversary, in words.
        values: Numbers of the symbols of the constant.
        worst: Computes the worst gap, divided by the step size.
        evidence: Where that comes from.
        reason: Why the worst is less than half of the constant, and what would help.
    """

    bound: str
    system: str
    values: dict[str, float]
    worst: Callable[[], float]
    evidence: Evidence
    reason: str = ""


@final
@dataclass(frozen=True, slots=True)
class Tightness:
    """One line of the table.

    Attributes:
        bound: Name of the constant.
        system: The system and its adversary, in words.
        worst: Largest gap found, divided by the step size.
        limit: The constant.
        evidence: Where the worst gap comes from.
        reason: Why the ratio is below one half, and what would help; "" where it is not.
    """

    bound: str
    system: str
    worst: float
    limit: float
    evidence: Evidence
    reason: str

    @property
    def ratio(self) -> float:
        """worst / limit; 1 where the constant is attained."""
        return self.worst / self.limit


def constants() -> tuple[Bound, ...]:
    """Every constant B of the catalogue."""
    return tuple(bound for bound in list_bounds() if bound.quantity is Quantity.GAP)


def tightness_table(names: tuple[str, ...] | None = None) -> tuple[Tightness, ...]:
    """worst found / bound for every constant that has a case, in the order of the catalogue.

    Args:
        names: Constants wanted; all by default.
    """
    from elastic_consistency.validation.worst_case.cases import CASES

    return tuple(
        measure(case, bound)
        for bound in constants()
        for case in CASES
        if case.bound == bound.name and (names is None or bound.name in names)
    )


def measure(case: Case, bound: Bound) -> Tightness:
    """The line of one case."""
    return Tightness(
        bound=bound.name,
        system=case.system,
        worst=case.worst(),
        limit=bound.evaluate(case.values),
        evidence=case.evidence,
        reason=case.reason,
    )


def without_case() -> tuple[str, ...]:
    """Constants for which nobody has built a system yet."""
    from elastic_consistency.validation.worst_case.cases import CASES

    known = {case.bound for case in CASES}
    return tuple(bound.name for bound in constants() if bound.name not in known)


def format_table(table: tuple[Tightness, ...]) -> str:
    """The table in Markdown, one line a case, and below it the reasons of loose ones."""
    head = ("constant", "worst found", "bound", "ratio", "system", "evidence")
    body = [
        (t.bound, f"{t.worst:.5g}", f"{t.limit:.5g}", f"{t.ratio:.3f}", t.system, t.evidence.value)
        for t in table
    ]
    lines = [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *body)]
    reasons: dict[str, list[str]] = {}
    for line in table:
        if line.reason:
            reasons.setdefault(line.reason, []).append(f"`{line.bound}`")
    loose = [f"- {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return "\n".join([*lines, "", *loose])
