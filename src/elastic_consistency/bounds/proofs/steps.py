"""Steps that combine inequalities at one moment: combination, root, vector identity."""

from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.proofs.claims import Claim, DerivationError, linear_form, vanishes
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.proofs.vectors import (
    Atom,
    Vector,
    nonnegative_atom,
)


@final
@dataclass(frozen=True, slots=True)
class Combination:
    """goal_rhs - goal_lhs = sum of multiplier * (rhs - lhs) + slack, with slack >= 0.

    Attributes:
        name: What the step shows.
        goal: The two sides of its conclusion.
        terms: Pairs of a multiplier and a premise; the multiplier of an inequality must be
            >= 0 on the region, that of an equality may have either sign.
    """

    name: str
    goal: tuple[sp.Expr, sp.Expr]
    terms: tuple[tuple[sp.Expr, Claim], ...]

    @property
    def equality(self) -> bool:
        """A combination is an inequality."""
        return False

    @property
    def lhs(self) -> sp.Expr:
        """Left-hand side of the conclusion."""
        return sp.sympify(self.goal[0])

    @property
    def rhs(self) -> sp.Expr:
        """Right-hand side of the conclusion."""
        return sp.sympify(self.goal[1])

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses."""
        return tuple(premise for _, premise in self.terms)

    def slack(self) -> dict[sp.Expr, sp.Expr]:
        """Return the coefficient of each atom in the slack; key 1 holds the rest."""
        total = self.rhs - self.lhs
        for multiplier, premise in self.terms:
            total -= sp.sympify(multiplier) * (premise.rhs - premise.lhs)
        return linear_form(sp.expand(total))

    def check(self, region: Region) -> None:
        """Check the signs of the multipliers and of the slack."""
        for multiplier, premise in self.terms:
            if not premise.equality and not region.proves_nonnegative(multiplier):
                raise DerivationError(
                    f"{self.name}: the multiplier of {premise.name} must be >= 0 on the assumed "
                    f"region, got {multiplier}."
                )
        for atom, coefficient in self.slack().items():
            _check_slack(self.name, atom, coefficient, region)


def _check_slack(name: str, atom: sp.Expr, coefficient: sp.Expr, region: Region) -> None:
    if atom != 1 and not atom.is_nonnegative:
        if not vanishes(coefficient):
            raise DerivationError(
                f"{name}: the slack on {atom}, which has either sign, must be 0, "
                f"got {sp.factor(coefficient)}."
            )
    elif not (region.proves_nonnegative(coefficient) or vanishes(coefficient)):
        raise DerivationError(
            f"{name}: the slack on {atom} must be >= 0 on the assumed region, "
            f"got {sp.factor(coefficient)}."
        )


@final
@dataclass(frozen=True, slots=True)
class SquareRoot:
    """From E|u|^2 <= r follows |u| <= sqrt(r), for the norm |u| = sqrt(E|u|^2).

    Attributes:
        name: What the step shows.
        of: The inequality, with E|u|^2 alone on the left and only parameters on the right.
        root: The root of the right side, an expression >= 0.
    """

    name: str
    of: Claim
    root: sp.Expr

    @property
    def equality(self) -> bool:
        """A root of an inequality is an inequality."""
        return False

    @property
    def lhs(self) -> sp.Expr:
        """The norm."""
        return nonnegative_atom(str(self.of.lhs).removeprefix("E").removesuffix("^2"))

    @property
    def rhs(self) -> sp.Expr:
        """The root of the bound."""
        return self.root

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        """Check that the left side is one squared norm and the right side a number >= 0."""
        text = str(self.of.lhs)
        squared = isinstance(self.of.lhs, Atom) and text.startswith("E|") and text.endswith("|^2")
        if not squared or self.of.rhs.atoms(Atom):
            raise DerivationError(f"{self.name}: must read E|u|^2 <= number, got {text}.")
        if not region.proves_nonnegative(self.root) or not vanishes(self.root**2 - self.of.rhs):
            raise DerivationError(
                f"{self.name}: the root must be >= 0 with square {self.of.rhs}, got {self.root}."
            )


@final
@dataclass(frozen=True, slots=True)
class VectorIdentity:
    """Two combinations of vectors are equal.

    Attributes:
        name: What the step shows.
        left: One combination.
        right: The other.
    """

    name: str
    left: Vector
    right: Vector

    @property
    def equality(self) -> bool:
        """An identity."""
        return True

    @property
    def lhs(self) -> sp.Expr:
        """Zero: the identity is about vectors, not about expected quantities."""
        return sp.S.Zero

    @property
    def rhs(self) -> sp.Expr:
        """Zero."""
        return sp.S.Zero

    @property
    def premises(self) -> tuple[Claim, ...]:
        """None."""
        return ()

    def check(self, region: Region) -> None:
        """Check that all coefficients agree."""
        for name, coefficient in (self.left - self.right).terms.items():
            if not vanishes(coefficient):
                raise DerivationError(
                    f"{self.name}: the coefficients of {name} must agree, "
                    f"got a difference of {sp.factor(coefficient)}."
                )
