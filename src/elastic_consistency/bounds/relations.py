"""Relations between bounds, each a theorem that is checked exactly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.proofs.claims import DerivationError, vanishes
from elastic_consistency.bounds.proofs.region import Region

NO_VALUES: Mapping[sp.Symbol, sp.Expr] = MappingProxyType({})


@final
@dataclass(frozen=True, slots=True)
class Dominates:
    """larger >= smaller on the whole region.

    Attributes:
        name: Its name.
        statement: The theorem in words.
        larger: One expression.
        smaller: The other.
        assumptions: The region.
        by_squares: Whether both are >= 0 and their squares are compared.
    """

    name: str
    statement: str
    larger: sp.Expr
    smaller: sp.Expr
    assumptions: tuple[Relational, ...] = ()
    by_squares: bool = False

    def check(self) -> None:
        """Raise `DerivationError` unless the difference is shown to be >= 0."""
        region = Region(self.assumptions)
        difference = self.larger - self.smaller
        if self.by_squares:
            both = region.proves_nonnegative(self.larger) and region.proves_nonnegative(
                self.smaller
            )
            difference = sp.expand(self.larger**2) - sp.expand(self.smaller**2)
            if not both:
                raise DerivationError(f"{self.name}: both sides must be >= 0.")
        if not region.proves_nonnegative(difference):
            raise DerivationError(f"{self.name}: {self.larger} >= {self.smaller} is not shown.")


@final
@dataclass(frozen=True, slots=True)
class Equal:
    """Two expressions are the same function.

    Attributes:
        name: Its name.
        statement: The theorem in words.
        one: One expression.
        other: The other.
        at: Values at which the first is taken; a limit is taken where it is not defined.
    """

    name: str
    statement: str
    one: sp.Expr
    other: sp.Expr
    at: Mapping[sp.Symbol, sp.Expr] = field(default_factory=lambda: NO_VALUES)

    def check(self) -> None:
        """Raise `DerivationError` unless the difference vanishes identically."""
        if not vanishes(self.one.subs(self.at) - self.other):
            raise DerivationError(
                f"{self.name}: {self.one} at {dict(self.at)} is not {self.other}."
            )


@final
@dataclass(frozen=True, slots=True)
class MeetsOnlyAt:
    """Two expressions >= 0 in one symbol agree at one interior point only.

    Attributes:
        name: Its name.
        statement: The theorem in words.
        one: One expression.
        other: The other.
        symbol: The symbol, which runs through (0, 1).
        point: Where they agree.
        touches: Whether the difference keeps its sign there (a root of even order) or changes it.
    """

    name: str
    statement: str
    one: sp.Expr
    other: sp.Expr
    symbol: sp.Symbol
    point: sp.Expr
    touches: bool

    def check(self) -> None:
        """Raise `DerivationError` unless the roots of the difference of squares are as stated."""
        s = sp.Symbol("s", positive=True)
        difference = (self.one**2 - self.other**2).subs(self.symbol, s**2)
        numerator = sp.Poly(sp.fraction(sp.cancel(sp.together(difference)))[0], s)
        inside = [root for root in sp.real_roots(numerator) if (root > 0) & (root < 1)]
        distinct = set(inside)
        if len(distinct) != 1 or not vanishes(inside[0] ** 2 - self.point):
            raise DerivationError(
                f"{self.name}: agree at {distinct}, squared, not at {self.point}."
            )
        if (len(inside) % 2 == 0) != self.touches:
            raise DerivationError(f"{self.name}: the root has order {len(inside)}.")


Relation = Dominates | Equal | MeetsOnlyAt
