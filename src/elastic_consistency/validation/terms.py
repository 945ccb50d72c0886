"""The terms of a bound in numbers, each with the effect that it pays for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import final

import sympy as sp

from elastic_consistency.bounds import Bound
from elastic_consistency.execution.quantities import Quantity


class Effect(Enum):
    """What makes a term of a bound; the first one whose symbol occurs names the term."""

    COMPRESSION = "compression"
    MOMENTUM = "momentum"
    DELAY = "delay"
    NOISE = "noise"
    INITIAL_DISTANCE = "initial distance"
    OTHER = "other"


_SYMBOLS = {
    Effect.COMPRESSION: {"gamma", "K", "xi", "b"},
    Effect.MOMENTUM: {"mu"},
    Effect.DELAY: {"B", "tau", "tau_max", "tau_avg", "tau_c", "c_jobs", "R", "beta", "rho", "f"},
    Effect.NOISE: {"sigma", "zeta"},
    Effect.INITIAL_DISTANCE: {"Delta", "R0"},
}


@final
@dataclass(frozen=True, slots=True)
class Term:
    """One summand of a bound.

    Attributes:
        expression: The summand as text.
        effect: What it pays for.
        value: Its size, in the unit of the bound.
        share: Its part of the whole bound.
    """

    expression: str
    effect: Effect
    value: float
    share: float


def terms_of(bound: Bound, values: Mapping[str, float]) -> tuple[Term, ...]:
    """The summands of `bound` at `values`, largest first; they add up to the bound."""
    numbers = [(symbol, sp.Float(float(values[symbol.name]))) for symbol in bound.symbols]
    summands = _summands(bound)
    sizes = [float(summand.subs(numbers).evalf()) for summand in summands]
    total = sum(sizes)
    terms = [
        Term(str(summand), _effect(summand, bound.quantity), size, size / total if total else 0.0)
        for summand, size in zip(summands, sizes, strict=True)
    ]
    return tuple(sorted(terms, key=lambda term: -abs(term.value)))


def _summands(bound: Bound) -> tuple[sp.Expr, ...]:
    """Summands that speak of different effects; (n - 1) M stays whole."""
    expression = sp.sympify(bound.expression)
    expanded = sp.Add.make_args(sp.expand(expression))
    effects = {_effect(summand, bound.quantity) for summand in expanded}
    return sp.Add.make_args(expression) if expression.is_Add or len(effects) == 1 else expanded


def _effect(summand: sp.Expr, quantity: Quantity) -> Effect:
    names = {str(symbol) for symbol in summand.free_symbols}
    # A gap exists because something is late, unless a symbol says otherwise.
    default = Effect.DELAY if quantity is Quantity.GAP else Effect.OTHER
    return next((e for e, symbols in _SYMBOLS.items() if names & symbols), default)
