"""Altered bounds that claim more, sorted by whether a counterexample or a proof decides them.

A bound that was altered by hand no longer matches its certificate, which says nothing about it.
It is *rejected* if a concrete system violates it, *sharper* if a certificate proves it after
all, *equivalent* if it admits no new system, and *undecided* otherwise.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.bound import Bound, Side, admits, number_at
from elastic_consistency.bounds.proofs.claims import DerivationError
from elastic_consistency.bounds.proofs.counterexamples import System, systems_for
from elastic_consistency.bounds.proofs.lemmas import stated
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import c, symbol_table

_TENTH = sp.Rational(1, 10)
_MARGIN = 1e-9
_COUNTS = frozenset({"n", "p", "d", "K", "k", "H", "f", "R", "T", "m"})


@final
class Verdict(Enum):
    """What is known about a mutant."""

    REJECTED = "rejected"
    SHARPER = "sharper"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """A bound that claims more than the one that it was made from.

    Attributes:
        kind: coefficient, exponent, assumption or premise.
        description: What was altered.
        bound: The altered bound.
        dropped: The requirement that was removed, or None.
    """

    kind: str
    description: str
    bound: Bound
    dropped: Requirement | None = None


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant and what is known about it.

    Attributes:
        mutant: The mutant.
        verdict: The column that it belongs to.
        reason: The counterexample, the certificate, or empty.
    """

    mutant: Mutant
    verdict: Verdict
    reason: str


def judge_mutants(bound: Bound) -> tuple[Judged, ...]:
    """Return every mutant of a bound with its verdict."""
    systems = tuple(systems_for(bound))
    return tuple(_judge(mutant, bound, systems) for mutant in mutants_of(bound, systems))


def mutants_of(bound: Bound, systems: tuple[System, ...] = ()) -> tuple[Mutant, ...]:
    """Return every single alteration of a bound that claims more.

    Args:
        bound: The bound.
        systems: Systems at whose parameters a coefficient or exponent that is smaller there
            counts as claiming more, besides the example values of the symbols.
    """
    points = _points(bound, systems)
    return (
        *_smaller_coefficients(bound, points),
        *_moved_exponents(bound, points),
        *_weaker_assumptions(bound),
        *_dropped_requirements(bound),
    )


def _judge(mutant: Mutant, original: Bound, systems: tuple[System, ...]) -> Judged:
    allowed = frozenset() if mutant.dropped is None else frozenset({mutant.dropped})
    for system in systems:
        if system.lacks <= allowed and _violates(system, mutant.bound):
            return Judged(mutant, Verdict.REJECTED, _counterexample(system, mutant.bound))
    if _admits_nothing_new(mutant, original):
        return Judged(mutant, Verdict.EQUIVALENT, "no such system exists")
    if _certified(mutant, original):
        return Judged(mutant, Verdict.SHARPER, "the certificate holds all the same")
    return Judged(mutant, Verdict.UNDECIDED, "")


def _counterexample(system: System, bound: Bound) -> str:
    names = [symbol.name for symbol in bound.symbols]
    values = ", ".join(f"{name} = {system.values[name]:g}" for name in names)
    return f"{system.description}; {values}"


def _violates(system: System, bound: Bound) -> bool:
    if not admits(bound, system.values):
        return False
    number = number_at(sp.sympify(bound.expression), system.values)
    if math.isnan(number):
        return True
    slack = _MARGIN * abs(number) + 1e-300
    if bound.side is Side.EQUAL:
        return abs(system.measured - number) > 1e3 * slack
    return system.measured > number + slack


def _certified(mutant: Mutant, original: Bound) -> bool:
    """Return whether the original's proof covers the mutant; it never covers a new expression."""
    derivation = original.derivation
    if derivation is None or mutant.kind in ("coefficient", "exponent"):
        return False
    if mutant.dropped is not None:
        named = frozenset().union(*(lemma.requires for lemma in stated()))
        return mutant.dropped in named - derivation.requirements()
    try:
        return mutant.bound.verify() > 0
    except DerivationError:
        return False


def _admits_nothing_new(mutant: Mutant, original: Bound) -> bool:
    if mutant.kind != "assumption":
        return False
    changed = set(mutant.bound.assumptions) ^ set(original.assumptions)
    if {relation.lhs for relation in changed} == {c}:
        return True  # no loss is more strongly convex than it is smooth
    return all(
        isinstance(relation.lhs, sp.Symbol)
        and relation.lhs.name in _COUNTS
        and relation.rhs.is_number
        and isinstance(relation, sp.GreaterThan | sp.StrictGreaterThan)
        for relation in changed
    )


def _smaller_coefficients(bound: Bound, points: "_Points") -> Iterator[Mutant]:
    for path, node in _terms(sp.sympify(bound.expression)):
        altered = (node * (1 - _TENTH), node * (1 + _TENTH))
        yield from _claiming_more(bound, points, "coefficient", path, node, altered)


def _moved_exponents(bound: Bound, points: "_Points") -> Iterator[Mutant]:
    for path, node in _powers(sp.sympify(bound.expression)):
        base, exponent = node.as_base_exp()
        altered = (base ** (exponent * (1 - _TENTH)), base ** (exponent * (1 + _TENTH)))
        yield from _claiming_more(bound, points, "exponent", path, node, altered)


def _claiming_more(
    bound: Bound,
    points: "_Points",
    kind: str,
    path: tuple[int, ...],
    node: sp.Expr,
    altered: tuple[sp.Expr, sp.Expr],
) -> Iterator[Mutant]:
    whole = sp.sympify(bound.expression)
    for new in altered:
        changed = _replaced(whole, path, new)
        if any(number_at(changed, p) < number_at(whole, p) * (1 - 1e-12) for p in points):
            yield Mutant(kind, f"{node} -> {new}", replace(bound, expression=changed))


def _points(bound: Bound, systems: tuple[System, ...]) -> "_Points":
    """Return the example values and those of legal systems."""
    names = symbol_table()
    example = {s.name: float(names[s.name].example) for s in bound.symbols}
    legal = [system.values for system in systems if not system.lacks]
    return [example, *(values for values in legal[:12] if admits(bound, values))]


_Points = list[Mapping[str, float]]


def _terms(expression: sp.Expr) -> Iterator[tuple[tuple[int, ...], sp.Expr]]:
    """Yield the summands of every sum, and the whole expression."""
    if not isinstance(expression, sp.Add):
        yield (), expression
    for path, node in _walk(expression):
        if isinstance(node, sp.Add):
            for position, part in enumerate(node.args):
                yield (*path, position), part


def _powers(expression: sp.Expr) -> Iterator[tuple[tuple[int, ...], sp.Expr]]:
    """Yield every power with its own exponent; a lone symbol has the exponent 1."""
    for path, node in _walk(expression):
        parent = _at(expression, path[:-1]) if path else None
        if isinstance(node, sp.Symbol) and not isinstance(parent, sp.Pow):
            yield path, node
        if isinstance(node, sp.Pow) and isinstance(node.base, sp.Symbol | sp.Add):
            yield path, node


def _walk(
    expression: sp.Basic, path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Any]]:
    yield path, expression
    for position, part in enumerate(expression.args):
        yield from _walk(part, (*path, position))


def _at(expression: sp.Basic, path: tuple[int, ...]) -> sp.Basic:
    for position in path:
        expression = expression.args[position]
    return expression


def _replaced(expression: sp.Basic, path: tuple[int, ...], new: sp.Expr) -> sp.Expr:
    if not path:
        return new
    parts = list(expression.args)
    parts[path[0]] = _replaced(parts[path[0]], path[1:], new)
    return expression.func(*parts)


def _weaker_assumptions(bound: Bound) -> Iterator[Mutant]:
    for position, relation in enumerate(bound.assumptions):
        weaker = _weakened(relation)
        changed = (*bound.assumptions[:position], weaker, *bound.assumptions[position + 1 :])
        yield Mutant("assumption", f"{relation} -> {weaker}", replace(bound, assumptions=changed))


def _weakened(relation: Relational) -> Relational:
    upper = isinstance(relation, sp.LessThan | sp.StrictLessThan)
    factor = 1 + _TENTH if upper else 1 - _TENTH
    limit = relation.rhs * factor if relation.rhs != 0 else -_TENTH
    return relation.func(relation.lhs, limit, evaluate=False)


def _dropped_requirements(bound: Bound) -> Iterator[Mutant]:
    for requirement in sorted(bound.requirements, key=lambda r: r.name):
        kept = replace(bound, requirements=bound.requirements - {requirement})
        yield Mutant("premise", f"without {requirement.name}", kept, requirement)
