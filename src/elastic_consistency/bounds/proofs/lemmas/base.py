"""What a lemma is, and its instances: the premises of proofs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import sympy as sp

from elastic_consistency.bounds.requirements import Requirement


@final
@dataclass(frozen=True, slots=True)
class Premise:
    """An instance lhs <= rhs (or lhs = rhs) of a lemma.

    Attributes:
        lemma: The lemma.
        arguments: Points, vectors and parameters that it is applied to.
        lhs: Left-hand side, linear in atoms.
        rhs: Right-hand side, linear in atoms.
    """

    lemma: "Lemma"
    arguments: tuple[Any, ...]
    lhs: sp.Expr = field(init=False)
    rhs: sp.Expr = field(init=False)

    def __post_init__(self) -> None:
        lhs, rhs = self.lemma.sides(*self.arguments)
        object.__setattr__(self, "lhs", sp.sympify(lhs))
        object.__setattr__(self, "rhs", sp.sympify(rhs))

    @property
    def conditions(self) -> tuple[sp.Expr, ...]:
        """Expressions in the parameters that must be >= 0."""
        return self.lemma.conditions(*self.arguments)

    @property
    def name(self) -> str:
        """The lemma's name."""
        return self.lemma.name

    @property
    def equality(self) -> bool:
        """Whether the two sides are equal."""
        return self.lemma.equality


@final
@dataclass(frozen=True, slots=True)
class Lemma:
    """A family of inequalities.

    Attributes:
        name: Its name.
        statement: The inequality in words.
        sides: Function from the arguments to the two sides.
        equality: Whether the sides are equal.
        requires: What it needs of the system.
        conditions: Function from the arguments to expressions that must be >= 0 for the lemma.
    """

    name: str
    statement: str
    sides: Callable[..., tuple[sp.Expr, sp.Expr]]
    equality: bool = False
    requires: frozenset[Requirement] = frozenset()
    conditions: Callable[..., tuple[sp.Expr, ...]] = lambda *_: ()

    def __call__(self, *arguments: Any) -> Premise:
        """Return the instance at `arguments`."""
        return Premise(self, arguments)
