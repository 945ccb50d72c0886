"""Altered bounds that claim more, sorted by whether a counterexample or a proof decides them.

A bound that was altered by hand no longer matches its certificate, which says nothing about it.
It is *rejected* if a concrete system violates it, *sharper* if a certificate proves it after
all, *equivalent* if it admits no new system, and *undecided* otherwise.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.claims import DerivationError
from elastic_consistency.bounds.counterexamples import System, systems_for
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import symbol_table

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
    systems = systems_for(bound)
    return tuple(_judge(mutant, bound, systems) for mutant in mutants_of(bound))


def count_verdicts(judged: tuple[Judged, ...]) -> dict[Verdict, int]:
    """Return the number of mutants in each column."""
    counted = Counter(one.verdict for one in judged)
    return {verdict: counted[verdict] for verdict in Verdict}


def mutants_of(bound: Bound) -> tuple[Mutant, ...]:
    """Return every single alteration of a bound that claims more."""
    sources = (_smaller_coefficients, _moved_exponents, _weaker_assumptions, _dropped_requirements)
    return tuple(mutant for source in sources for mutant in source(bound))


def _judge(mutant: Mutant, original: Bound, systems: list[System]) -> Judged:
    allowed = frozenset() if mutant.dropped is None else frozenset({mutant.dropped})
    for system in systems:
        if system.lacks <= allowed and _violates(system, mutant.bound):
            return Judged(mutant, Verdict.REJECTED, f"{system.description}: {dict(system.values)}")
    if _admits_nothing_new(mutant, original):
        return Judged(mutant, Verdict.EQUIVALENT, "no whole number lies between the limits")
    if _certified(mutant):
        return Judged(mutant, Verdict.SHARPER, "the certificate holds all the same")
    return Judged(mutant, Verdict.UNDECIDED, "")


def _violates(system: System, bound: Bound) -> bool:
    values = {name: value for name, value in system.values.items() if name in symbol_table()}
    if bound.failed_assumptions(values):
        return False
    claimed = sp.sympify(bound.expression).subs(
        {symbol: sp.Float(float(values[symbol.name])) for symbol in bound.symbols}
    )
    number = complex(claimed.evalf())
    if number.imag != 0 or number.real != number.real:
        return True
    return system.measured > number.real * (1 + _MARGIN) + 1e-300


def _certified(mutant: Mutant) -> bool:
    try:
        return mutant.bound.verify() > 0
    except DerivationError:
        return False


def _admits_nothing_new(mutant: Mutant, original: Bound) -> bool:
    if mutant.kind != "assumption":
        return False
    changed = set(mutant.bound.assumptions) ^ set(original.assumptions)
    return all(
        isinstance(relation.lhs, sp.Symbol)
        and relation.lhs.name in _COUNTS
        and relation.rhs.is_number
        and isinstance(relation, sp.GreaterThan | sp.StrictGreaterThan)
        for relation in changed
    )


def _smaller_coefficients(bound: Bound) -> Iterator[Mutant]:
    for path, node in _terms(sp.sympify(bound.expression)):
        yield from _claiming_more(
            bound, "coefficient", path, node, lambda x: (x * (1 - _TENTH), x * (1 + _TENTH))
        )


def _moved_exponents(bound: Bound) -> Iterator[Mutant]:
    for path, node in _powers(sp.sympify(bound.expression)):
        yield from _claiming_more(bound, "exponent", path, node, _shifted)


def _shifted(node: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    base, exponent = node.as_base_exp()
    return base ** (exponent * (1 - _TENTH)), base ** (exponent * (1 + _TENTH))


def _claiming_more(
    bound: Bound,
    kind: str,
    path: tuple[int, ...],
    node: sp.Expr,
    alter: Callable[[sp.Expr], tuple[sp.Expr, sp.Expr]],
) -> Iterator[Mutant]:
    whole = sp.sympify(bound.expression)
    for altered in alter(node):
        changed = _replaced(whole, path, altered)
        if _claims_more_somewhere(bound, changed):
            yield Mutant(kind, f"{node} -> {altered}", replace(bound, expression=changed))


def _claims_more_somewhere(bound: Bound, changed: sp.Expr) -> bool:
    """Return whether `changed` is smaller at one of the points where systems exist."""
    names = symbol_table()
    points = [{s: names[s.name].example for s in bound.symbols}]
    points += [
        {s: sp.Float(system.values[s.name]) for s in bound.symbols}
        for system in systems_for(bound)[:12]
        if not system.lacks and not bound.failed_assumptions(_known(system))
    ]
    for point in points:
        before, after = (complex(e.subs(point).evalf()) for e in (bound.expression, changed))
        if after.real < before.real * (1 - 1e-12):
            return True
    return False


def _known(system: System) -> dict[str, float]:
    return {name: value for name, value in system.values.items() if name in symbol_table()}


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
