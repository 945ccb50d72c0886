"""The kinds of proof steps, each checked by itself.

A step turns premises, which are instances of lemmas or conclusions of earlier steps, into one
inequality lhs <= rhs between linear forms in atoms. `check` raises `DerivationError` unless the
inequality follows on the whole region.
"""

from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.lemmas import Premise, average, drop, start
from elastic_consistency.bounds.region import Region
from elastic_consistency.bounds.vectors import Atom, Vector, nonnegative_atom


class DerivationError(ValueError):
    """A step of a derivation does not follow from its premises on the assumed region."""


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
    terms: tuple[tuple[sp.Expr, "Premise | Step"], ...]

    equality = False

    @property
    def lhs(self) -> sp.Expr:
        """Left-hand side of the conclusion."""
        return sp.sympify(self.goal[0])

    @property
    def rhs(self) -> sp.Expr:
        """Right-hand side of the conclusion."""
        return sp.sympify(self.goal[1])

    @property
    def premises(self) -> "tuple[Premise | Step, ...]":
        """What the step uses."""
        return tuple(premise for _, premise in self.terms)

    def slack(self) -> dict[sp.Expr, sp.Expr]:
        """Return the coefficient of each atom in the slack; key 1 holds the rest."""
        total = self.rhs - self.lhs
        for multiplier, premise in self.terms:
            total -= sp.sympify(multiplier) * (premise.rhs - premise.lhs)
        return linear_form(total)

    def check(self, region: Region) -> None:
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
    elif not region.proves_nonnegative(coefficient):
        raise DerivationError(
            f"{name}: the slack on {atom} must be >= 0 on the assumed region, "
            f"got {sp.factor(coefficient)}."
        )


@final
@dataclass(frozen=True, slots=True)
class Telescope:
    """From P_next - P + X <= Y follows avg X <= avg Y + (P_0 - P_T) / steps.

    Attributes:
        name: What the step shows.
        of: The one-step inequality; all of it on its left minus its right side counts.
        now: The potential P, an atom.
        following: The potential after the step, an atom.
        steps: Number of steps.
    """

    name: str
    of: "Premise | Step"
    now: sp.Expr
    following: sp.Expr
    steps: sp.Expr

    equality = False

    @property
    def lhs(self) -> sp.Expr:
        """Average of what the step leaves on the left."""
        weight = linear_form(self.of.lhs - self.of.rhs).get(self.following, sp.S.Zero)
        return average(sp.expand(self.of.lhs - weight * (self.following - self.now)))

    @property
    def rhs(self) -> sp.Expr:
        """Average of the right side plus the drop of the potential per step."""
        weight = linear_form(self.of.lhs - self.of.rhs).get(self.following, sp.S.Zero)
        return average(self.of.rhs) + weight * drop(self.now) / self.steps

    @property
    def premises(self) -> "tuple[Premise | Step, ...]":
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        leftover = {self.now, self.following} & linear_form(self.of.rhs).keys()
        weight = linear_form(self.of.lhs).get(self.following, sp.S.Zero)
        if leftover or not region.proves_nonnegative(weight):
            raise DerivationError(
                f"{self.name}: the potential must stand on the left, weight >= 0."
            )
        if not region.proves_positive(self.steps):
            raise DerivationError(f"{self.name}: the number of steps must be > 0.")


@final
@dataclass(frozen=True, slots=True)
class Average:
    """An inequality that holds at every step holds for the averages over steps.

    Attributes:
        name: What the step shows.
        of: The inequality.
    """

    name: str
    of: "Premise | Step"

    equality = False

    @property
    def lhs(self) -> sp.Expr:
        """Average of the left side."""
        return average(self.of.lhs)

    @property
    def rhs(self) -> sp.Expr:
        """Average of the right side."""
        return average(self.of.rhs)

    @property
    def premises(self) -> "tuple[Premise | Step, ...]":
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        """Averages keep an inequality: nothing to check."""


@final
@dataclass(frozen=True, slots=True)
class Recursion:
    """From r_next <= q r + b follows r_N <= q^N r_0 + b / (1 - q), or r_0 + N b for q = 1.

    Attributes:
        name: What the step shows.
        of: The one-step inequality, with r_next alone on the left.
        now: r, an atom.
        end: The atom for r after `count` steps.
        count: Number of steps N, a parameter or an atom >= 0.
    """

    name: str
    of: "Premise | Step"
    now: sp.Expr
    end: sp.Expr
    count: sp.Expr

    equality = False

    def factor_and_constant(self) -> tuple[sp.Expr, sp.Expr]:
        """Return q and b."""
        form = linear_form(self.of.rhs)
        return form.pop(self.now, sp.S.Zero), form.pop(sp.S.One, sp.S.Zero)

    @property
    def lhs(self) -> sp.Expr:
        """R after the last step."""
        return self.end

    @property
    def rhs(self) -> sp.Expr:
        """The bound on it."""
        q, constant = self.factor_and_constant()
        if vanishes(q - 1):
            return start(self.now) + self.count * constant
        return q**self.count * start(self.now) + constant / (1 - q)

    @property
    def premises(self) -> "tuple[Premise | Step, ...]":
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        q, constant = self.factor_and_constant()
        others = linear_form(self.of.rhs).keys() - {self.now, sp.S.One}
        if others or not isinstance(self.of.lhs, Atom):
            raise DerivationError(f"{self.name}: the step must read r_next <= q r + b.")
        if not region.proves_nonnegative(constant) or not region.proves_nonnegative(q):
            raise DerivationError(f"{self.name}: q and b must be >= 0, got q={q}, b={constant}.")
        if not vanishes(q - 1) and not region.proves_positive(1 - q):
            raise DerivationError(f"{self.name}: q must be < 1 on the assumed region, got {q}.")


@final
@dataclass(frozen=True, slots=True)
class SquareRoot:
    """From E|u|^2 <= r follows |u| <= sqrt(r), for the norm |u| = sqrt(E|u|^2).

    Attributes:
        name: What the step shows.
        of: The inequality, with E|u|^2 alone on the left and only parameters on the right.
    """

    name: str
    of: "Premise | Step"

    equality = False

    @property
    def lhs(self) -> sp.Expr:
        """The norm."""
        return nonnegative_atom(f"sqrt[{self.of.lhs}]")

    @property
    def rhs(self) -> sp.Expr:
        """The root of the bound."""
        return sp.sqrt(self.of.rhs)

    @property
    def premises(self) -> "tuple[Premise | Step, ...]":
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        if self.of.rhs.atoms(Atom) or not region.proves_nonnegative(self.of.rhs):
            raise DerivationError(f"{self.name}: the right side must be a number >= 0.")


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

    equality = True
    lhs = sp.S.Zero
    rhs = sp.S.Zero
    premises = ()

    def check(self, region: Region) -> None:
        for name, coefficient in (self.left - self.right).terms.items():
            if not vanishes(coefficient):
                raise DerivationError(
                    f"{self.name}: the coefficients of {name} must agree, "
                    f"got a difference of {sp.factor(coefficient)}."
                )


Step = Combination | Telescope | Average | Recursion | SquareRoot | VectorIdentity


def linear_form(expression: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """Return the coefficient of each atom of a linear form; key 1 holds the rest."""
    atoms = sorted(expression.atoms(Atom), key=str)
    if not atoms:
        return {sp.S.One: expression}
    terms = sp.Poly(expression, *atoms).terms()
    form = {}
    for powers, coefficient in terms:
        if sum(powers) > 1:
            raise DerivationError(f"A side must be linear in its atoms, got {expression}.")
        key = atoms[powers.index(1)] if sum(powers) else sp.S.One
        form[key] = coefficient
    return form


def vanishes(expression: sp.Expr) -> bool:
    """Return whether an expression in the parameters is identically zero."""
    return sp.cancel(sp.together(expression)) == 0 or sp.simplify(expression) == 0
