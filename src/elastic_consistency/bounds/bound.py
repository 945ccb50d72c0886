"""A bound as an object: what it bounds, under which assumptions, from where, and why."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.proofs.claims import DerivationError
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope
from elastic_consistency.bounds.symbols import symbol_table
from elastic_consistency.execution.quantities import Quantity, Sequence

_ROUNDING = 1e-12


class AssumptionError(ValueError):
    """Values lie outside the assumptions of a bound, or one of its symbols has no value."""


@final
class Side(Enum):
    """On which side of the quantity a bound lies."""

    UPPER = "upper"
    LOWER = "lower"
    EQUAL = "equal"


@final
class Status(Enum):
    """How far the source of a bound has been verified."""

    DERIVED = "derived here; the certificate is its authority"
    REPRODUCED = "as commonly stated; text not checked; reproduced by a certificate here"
    IMPLIED = "as commonly stated; text not checked; implied by a sharper certificate here"
    RECALLED = "as commonly stated; text not checked; no certificate"
    READ = "read in the source; no certificate"
    ARGUED = "derived here on its proof page; no certificate"
    FITTED = "fitted to exact values; unproved"


@final
@dataclass(frozen=True, slots=True)
class Source:
    """Where a bound comes from.

    Attributes:
        text: Authors, year, theorem; or the proof page.
        status: How far that has been verified.
    """

    text: str
    status: Status


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """quantity <= expression (or >=, or =) whenever the assumptions hold.

    Attributes:
        name: Its key in the catalogue.
        title: One line in words.
        quantity: What is bounded.
        sequence: The auxiliary sequence that the quantity refers to.
        side: Whether it is an upper bound, a lower bound or an equality.
        expression: The bound, with every constant explicit.
        assumptions: Relations between symbols, each with a lone symbol on one side.
        requirements: What the system must satisfy, in words.
        source: Where it comes from and how far that is verified; `status` is short for the
            latter.
        proof: Function that builds the derivation, or None.
        tight: Whether some system attains it (in the limit).
        note: A remark: what the bound does not say, or how it compares.
        scope: The runs of which it speaks, which studies judge; or why they cannot judge it.
    """

    name: str
    title: str
    quantity: Quantity
    sequence: Sequence
    side: Side
    expression: sp.Expr
    assumptions: tuple[Relational, ...]
    requirements: frozenset[Requirement]
    source: Source
    proof: Callable[[], Derivation] | None = None
    tight: bool = False
    note: str = ""
    scope: Scope | str = "it does not say of which runs it speaks"

    @property
    def status(self) -> Status:
        """How far the source has been verified."""
        return self.source.status

    @property
    def derivation(self) -> Derivation | None:
        """The certificate, or None where there is none."""
        return None if self.proof is None else self.proof()

    @property
    def region(self) -> Region:
        """The parameters that satisfy the assumptions."""
        return Region(self.assumptions)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The symbols of expression and assumptions, by name."""
        return _symbols(self.expression, self.assumptions)

    def failed_assumptions(self, values: Mapping[str, float]) -> tuple[str, ...]:
        """Return each assumption that `values` violate or leave open, as text.

        Args:
            values: Number for each symbol by its name; names of other bounds are ignored.

        Raises:
            AssumptionError: If a name is no symbol of any bound.
        """
        self._refuse_unknown(values)
        missing = tuple(f"{s.name} needs a value" for s in self.symbols if s.name not in values)
        signs = tuple(_sign_text(s) for s in self.symbols if not _sign_holds(s, values))
        relations = tuple(
            _relation_text(relation)
            for relation in self.assumptions
            if _decidable(relation, values) and not _relation_holds(relation, values)
        )
        return missing + signs + relations

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the bound at `values`.

        Args:
            values: Number for each symbol by its name, for instance {"M": 1.0, "n": 8}.

        Raises:
            AssumptionError: If a symbol has no value or an assumption does not hold, naming it.
        """
        failed = self.failed_assumptions(values)
        if failed:
            given = {s.name: values[s.name] for s in self.symbols if s.name in values}
            raise AssumptionError(
                f"Bound.evaluate: {self.name} needs {'; '.join(failed)}, got {given!r}."
            )
        numbers = {s: sp.Float(float(values[s.name])) for s in self.symbols}
        return float(sp.sympify(self.expression).subs(numbers).evalf())

    def verify(self) -> int:
        """Re-check the certificate on the assumed region.

        Returns:
            Number of steps checked; 0 for a bound without a certificate.

        Raises:
            DerivationError: If a step fails or a lemma needs what the bound does not require.
        """
        derivation = self.derivation
        if derivation is None:
            return 0
        hidden = derivation.requirements() - self.requirements
        if hidden:
            names = ", ".join(sorted(requirement.name for requirement in hidden))
            raise DerivationError(f"Bound.requirements of {self.name} must include {names}.")
        return derivation.check(self.expression, self.region)

    def latex(self) -> str:
        """Return the expression in LaTeX."""
        return sp.latex(self.expression)

    def numpy_function(self) -> Callable[..., Any]:
        """Return a vectorised function of the symbols, in the order of `symbols`."""
        return sp.lambdify(self.symbols, self.expression, "numpy")

    def _refuse_unknown(self, values: Mapping[str, float]) -> None:
        unknown = sorted(set(values) - set(symbol_table()))
        if unknown:
            raise AssumptionError(
                f"Bound.evaluate: values must be named after symbols, "
                f"{self.name} uses {', '.join(s.name for s in self.symbols)}, got {unknown}."
            )


def evaluate(bound: Bound, values: Mapping[str, float]) -> float:
    """Return the bound at `values`; see `Bound.evaluate`."""
    return bound.evaluate(values)


def admits(bound: Bound, values: Mapping[str, float]) -> bool:
    """Return whether plain numbers for all symbols satisfy signs and assumptions.

    A fast form of `Bound.failed_assumptions` for many points; other names are ignored.
    """
    if any(s.name not in values or not _sign_holds(s, values) for s in bound.symbols):
        return False
    return all(_relation_holds(relation, values) for relation in bound.assumptions)


def _sign_holds(symbol: sp.Symbol, values: Mapping[str, float]) -> bool:
    if symbol.name not in values:
        return True
    value = float(values[symbol.name])
    return value > 0 if symbol.is_positive else value >= 0


def _sign_text(symbol: sp.Symbol) -> str:
    return f"{symbol.name} > 0" if symbol.is_positive else f"{symbol.name} >= 0"


def _relation_text(relation: Relational) -> str:
    signs = {sp.LessThan: "<=", sp.StrictLessThan: "<", sp.GreaterThan: ">="}
    sign = signs.get(type(relation), ">")
    return f"{relation.lhs} {sign} {relation.rhs}"


def _decidable(relation: Relational, values: Mapping[str, float]) -> bool:
    return all(symbol.name in values for symbol in relation.free_symbols)


def _relation_holds(relation: Relational, values: Mapping[str, float]) -> bool:
    left, right = (number_at(side, values) for side in (relation.lhs, relation.rhs))
    if math.isnan(left) or math.isnan(right):
        return False
    slack = _ROUNDING * abs(right)
    if isinstance(relation, sp.StrictLessThan):
        return left < right
    if isinstance(relation, sp.StrictGreaterThan):
        return left > right
    if isinstance(relation, sp.LessThan):
        return left <= right + slack
    return left >= right - slack


def number_at(side: sp.Expr, values: Mapping[str, float]) -> float:
    """Return an expression at named values; not a number where it is undefined.

    Far faster than `Bound.evaluate`, and without its checks: compiled once, then cached.
    """
    names, compiled = _compiled(side)
    try:
        found = compiled(*(float(values[name]) for name in names))
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan
    return math.nan if isinstance(found, complex) else float(found)


@lru_cache(maxsize=8192)
def _compiled(side: sp.Expr) -> tuple[tuple[str, ...], Callable[..., Any]]:
    symbols = tuple(sorted(side.free_symbols, key=lambda symbol: symbol.name))
    return tuple(symbol.name for symbol in symbols), sp.lambdify(symbols, side, "math")


@lru_cache(maxsize=8192)
def _symbols(expression: sp.Expr, assumptions: tuple[Relational, ...]) -> tuple[sp.Symbol, ...]:
    found = set(sp.sympify(expression).free_symbols)
    for relation in assumptions:
        found |= relation.free_symbols
    return tuple(sorted(found, key=lambda symbol: symbol.name))
