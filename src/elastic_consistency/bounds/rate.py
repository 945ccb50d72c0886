"""Rates: results of which only the order is known, judged by their exponent."""

from dataclasses import dataclass
from typing import final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.bound import Source
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.execution.quantities import Quantity


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """quantity = O(sum of terms), with unknown constants.

    Attributes:
        name: Its key.
        title: One line in words.
        quantity: What is bounded.
        terms: The terms inside O(.).
        assumptions: Relations between symbols, up to constants.
        requirements: What the system must satisfy.
        source: Where it comes from.
        note: A remark.
    """

    name: str
    title: str
    quantity: Quantity
    terms: tuple[sp.Expr, ...]
    source: Source
    assumptions: tuple[Relational, ...] = ()
    requirements: frozenset[Requirement] = frozenset()
    note: str = ""

    def exponent(self, symbol: sp.Symbol, *, growing: bool) -> sp.Expr:
        """Return the exponent of `symbol` that dominates as it grows, or as it shrinks.

        Logarithms do not count.
        """
        plain = [_without_logarithms(term) for term in self.terms]
        powers = [sp.simplify(symbol * sp.diff(sp.log(term), symbol)) for term in plain]
        return sp.Max(*powers) if growing else sp.Min(*powers)


def _without_logarithms(term: sp.Expr) -> sp.Expr:
    return term.replace(sp.log, lambda _: sp.S.One)
