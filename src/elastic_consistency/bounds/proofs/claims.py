"""What a line of a proof is: an inequality between linear forms in atoms."""

from typing import Protocol

import sympy as sp

from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.proofs.vectors import Atom


class DerivationError(ValueError):
    """A step of a derivation does not follow from its premises on the assumed region."""


class Claim(Protocol):
    """An inequality lhs <= rhs, or an equality, between linear forms in atoms."""

    @property
    def name(self) -> str:
        """What the claim says, or the lemma that it is an instance of."""
        ...

    @property
    def lhs(self) -> sp.Expr:
        """Left-hand side."""
        ...

    @property
    def rhs(self) -> sp.Expr:
        """Right-hand side."""
        ...

    @property
    def equality(self) -> bool:
        """Whether the sides are equal."""
        ...


class Step(Claim, Protocol):
    """A claim that follows from others."""

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses: instances of lemmas and earlier steps."""
        ...

    def check(self, region: Region) -> None:
        """Raise `DerivationError` unless the claim follows on the whole region."""
        ...


def linear_form(expression: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """Return the coefficient of each atom of a linear form; key 1 holds the rest."""
    atoms = sorted(expression.atoms(Atom), key=str)
    if not atoms:
        return {sp.S.One: expression}
    form = {}
    for powers, coefficient in sp.Poly(expression, *atoms).terms():
        if sum(powers) > 1:
            raise DerivationError(f"A side must be linear in its atoms, got {expression}.")
        key = atoms[powers.index(1)] if sum(powers) else sp.S.One
        form[key] = coefficient
    return form


def vanishes(expression: sp.Expr) -> bool:
    """Return whether an expression in the parameters is identically zero."""
    return sp.cancel(sp.together(expression)) == 0 or sp.simplify(expression) == 0
