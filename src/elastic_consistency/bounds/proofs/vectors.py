"""Formal random vectors: a proof speaks of their expected inner products and norms.

A vector is a linear combination of named vectors with coefficients in the parameters. Its
expected inner products are linear forms in `Atom`s, so polarisation and the expansion of a
square are identities, not premises.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import sympy as sp


class Atom(sp.Symbol):
    """An expected quantity in a proof, non-negative or of either sign; not a parameter."""

    __slots__ = ()


def nonnegative_atom(name: str) -> Atom:
    """Return the expected quantity `name`, known to be >= 0."""
    return Atom(name, nonnegative=True)


def signed_atom(name: str) -> Atom:
    """Return the expected quantity `name`, of either sign."""
    return Atom(name, real=True)


@final
@dataclass(frozen=True, slots=True)
class Vector:
    """A linear combination of named vectors.

    Attributes:
        terms: Coefficient, an expression in the parameters, of each named vector.
    """

    terms: Mapping[str, sp.Expr]

    def __add__(self, other: "Vector") -> "Vector":
        names = sorted(set(self.terms) | set(other.terms))
        zero = sp.S.Zero
        return Vector(
            MappingProxyType(
                {name: self.terms.get(name, zero) + other.terms.get(name, zero) for name in names}
            )
        )

    def __rmul__(self, factor: sp.Expr | int) -> "Vector":
        return Vector(
            MappingProxyType({name: sp.sympify(factor) * c for name, c in self.terms.items()})
        )

    def __sub__(self, other: "Vector") -> "Vector":
        return self + (-1) * other

    def __str__(self) -> str:
        present = ((name, factor) for name, factor in self.terms.items() if factor != 0)
        parts = [name if factor == 1 else f"({factor}) {name}" for name, factor in present]
        return " + ".join(parts) or "0"


def vector(name: str) -> Vector:
    """Return the named vector."""
    return Vector(MappingProxyType({name: sp.S.One}))


ORIGIN = Vector(MappingProxyType({}))


def inner(left: Vector, right: Vector) -> sp.Expr:
    """Return E<left, right> as a linear form in atoms."""
    return sp.Add(
        *(
            a * b * _gram(one, other)
            for one, a in left.terms.items()
            for other, b in right.terms.items()
        )
    )


def squared_norm(of: Vector) -> sp.Expr:
    """Return E|of|^2 as a linear form in atoms."""
    return inner(of, of)


def norm(of: Vector) -> sp.Expr:
    """Return the L2 norm sqrt(E|of|^2) of a vector with one term, or an atom of its own."""
    present = [(name, factor) for name, factor in of.terms.items() if factor != 0]
    if len(present) == 1:
        name, factor = present[0]
        return sp.Abs(factor) * nonnegative_atom(f"|{name}|")
    return nonnegative_atom(f"|{of}|")


def _gram(one: str, other: str) -> Atom:
    if one == other:
        return nonnegative_atom(f"E|{one}|^2")
    first, second = sorted((one, other))
    return signed_atom(f"E<{first},{second}>")


@final
@dataclass(frozen=True, slots=True)
class Point:
    """A point at which the loss is looked at.

    Attributes:
        name: Its name in the proof.
        position: The parameter vector.
        gradient: The gradient of the loss there.
    """

    name: str
    position: Vector
    gradient: Vector

    @property
    def value(self) -> Atom:
        """E f at the point; of either sign."""
        return signed_atom(f"E f({self.name})")


def point(name: str, position: Vector | None = None) -> Point:
    """Return the point `name`; its position is a free vector unless it is given."""
    return Point(name, vector(name) if position is None else position, vector(f"grad f({name})"))
