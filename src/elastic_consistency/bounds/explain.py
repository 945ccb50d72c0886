"""A bound in words: statement, assumptions, source, derivation, a numeric example."""

from collections.abc import Mapping

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.bound import Bound, Side
from elastic_consistency.bounds.proofs.claims import Claim, Step
from elastic_consistency.bounds.proofs.lemmas import Premise
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.symbols import symbol_table
from elastic_consistency.execution.quantities import Sequence

_SIGNS = {Side.UPPER: "<=", Side.LOWER: ">=", Side.EQUAL: "="}


def explain(bound: Bound) -> str:
    """Return statement, assumptions, source and status, derivation, and a numeric example."""
    parts = [
        f"{bound.name}: {bound.title}",
        statement(bound),
        "Symbols\n" + "\n".join(f"  {line}" for line in symbol_lines(bound)),
        "Assumptions\n" + "\n".join(f"  {line}" for line in assumption_lines(bound)),
        f"Source\n  {bound.source.text}\n  {bound.status.value}",
        "Derivation\n" + "\n".join(f"  {line}" for line in derivation_lines(bound)),
        f"Example\n  {example_line(bound)}",
    ]
    if bound.note:
        parts.append(f"Note\n  {bound.note}")
    return "\n\n".join(parts)


def statement(bound: Bound) -> str:
    """Return `quantity <= expression`, with the auxiliary sequence that the quantity refers to."""
    against = "" if bound.sequence is Sequence.NONE else f" ({bound.sequence.value} sequence)"
    tight = "; tight" if bound.tight else ""
    sign = _SIGNS[bound.side]
    return f"{bound.quantity.value}{against} {sign} {bound.expression}{tight}"


def symbol_lines(bound: Bound) -> list[str]:
    """Return one line a symbol: name, unit and meaning."""
    table = symbol_table()
    infos = [table[symbol.name] for symbol in bound.symbols]
    return [f"{i.symbol.name} [{i.dimension.text()}]: {i.meaning}" for i in infos]


def assumption_lines(bound: Bound) -> list[str]:
    """Return relations of symbols, then requirements in words."""
    relations = [str(relation) for relation in bound.assumptions]
    words = sorted(requirement.value for requirement in bound.requirements)
    return (relations + words) or ["none"]


def derivation_lines(bound: Bound) -> list[str]:
    """Return one line a step and one a premise with its multiplier."""
    derivation = bound.derivation
    if derivation is None:
        return ["no certificate"]
    return [line for step in derivation.steps for line in _step_lines(step)]


def example_values(bound: Bound) -> dict[str, float]:
    """Return values for all symbols that satisfy the assumptions, typical where possible."""
    table = symbol_table()
    typical = {s.name: float(table[s.name].example) for s in bound.symbols}
    return moved_inside(typical, bound.assumptions)


def moved_inside(
    values: Mapping[str, float], relations: tuple[Relational, ...]
) -> dict[str, float]:
    """Return values that satisfy the relations, each moved to the middle of its range if outside.

    Args:
        values: Number for each symbol by its name.
        relations: Relations with a lone symbol on the left.
    """
    moved = dict(values)
    for _ in relations:
        for relation in relations:
            _move_inside(relation, relations, moved)
    return moved


def example_line(bound: Bound) -> str:
    """Return the bound at `example_values`."""
    values = example_values(bound)
    given = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    return f"{given}: {bound.evaluate(values):.6g}"


def _move_inside(
    relation: Relational, relations: tuple[Relational, ...], values: dict[str, float]
) -> None:
    """Move the symbol on the left of `relation` to the middle of its range if it is outside."""
    limit, symbol = _at(relation.rhs, values), relation.lhs
    upper = _is_upper(relation)
    inside = values[symbol.name] < limit if upper else values[symbol.name] > limit
    others = [
        _at(other.rhs, values)
        for other in relations
        if other.lhs == symbol and _is_upper(other) != upper
    ]
    if not inside:
        opposite = others[0] if others else (0.0 if upper else 3 * limit)
        values[symbol.name] = (limit + opposite) / 2


def _is_upper(relation: Relational) -> bool:
    return isinstance(relation, sp.LessThan | sp.StrictLessThan)


def _at(expression: sp.Expr, values: dict[str, float]) -> float:
    return float(expression.subs({s: values[s.name] for s in expression.free_symbols}))


def _step_lines(step: Step) -> list[str]:
    head = f"{step.name}: {step.lhs} <= {step.rhs}  [{type(step).__name__}]"
    if isinstance(step, Combination):
        used = [_premise_line(premise, f"({multiplier}) x ") for multiplier, premise in step.terms]
        return [head, *used]
    return [head, *(_premise_line(premise, "from ") for premise in step.premises)]


def _premise_line(premise: Claim, before: str) -> str:
    if isinstance(premise, Premise):
        return f"    {before}{premise.name}: {premise.lemma.statement}"
    return f"    {before}step {premise.name!r}"
