"""Proofs that insert values, or a proved constant, into a proved theorem."""

from collections.abc import Mapping

import sympy as sp

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.substitution import Substitution
from elastic_consistency.bounds.symbols import B


def specialise(general: Bound, values: Mapping[sp.Symbol, sp.Expr]) -> Derivation:
    """Return the proof of `general` at `values`."""
    theorem = general.derivation
    assert theorem is not None
    listed = ", ".join(f"{symbol} = {value}" for symbol, value in values.items())
    case = Substitution(
        f"{general.name} at {listed}", theorem, general.expression, general.region, values
    )
    return Derivation(case.lhs, (case,))


def insert_constant(general: Bound, gap: Bound) -> Derivation:
    """Return the proof of `general` with the elastic constant that `gap` proves."""
    proved = gap.derivation
    assert proved is not None
    constant = Substitution(gap.name, proved, gap.expression, gap.region, {})
    whole = specialise(general, {B: gap.expression})
    return Derivation(whole.quantity, (constant, *whole.steps))
