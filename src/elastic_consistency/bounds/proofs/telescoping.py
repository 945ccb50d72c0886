"""Proof steps that sum an inequality over the steps of a run."""

from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.proofs.claims import Claim, DerivationError, linear_form
from elastic_consistency.bounds.proofs.lemmas import average, drop
from elastic_consistency.bounds.proofs.region import Region


@final
@dataclass(frozen=True, slots=True)
class Telescope:
    """From P_next - P + X <= Y follows avg X <= avg Y + (P_0 - P_T) / steps.

    Attributes:
        name: What the step shows.
        of: The one-step inequality, with P_next - P on its left.
        now: The potential P, an atom.
        following: The potential after the step, an atom.
        steps: Number of steps.
        weight: A step size that changes from step to step, or None; it is averaged together
            with what it multiplies.
    """

    name: str
    of: Claim
    now: sp.Expr
    following: sp.Expr
    steps: sp.Expr
    weight: sp.Symbol | None = None

    @property
    def equality(self) -> bool:
        """A sum of inequalities is an inequality."""
        return False

    @property
    def lhs(self) -> sp.Expr:
        """Average of what the step leaves on the left."""
        rest = sp.expand(self.of.lhs - self._factor() * (self.following - self.now))
        return average(rest, weight=self.weight)

    @property
    def rhs(self) -> sp.Expr:
        """Average of the right side plus the drop of the potential per step."""
        mean = average(sp.expand(self.of.rhs), weight=self.weight)
        return mean + self._factor() * drop(self.now) / self.steps

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses."""
        return (self.of,)

    def _factor(self) -> sp.Expr:
        return linear_form(sp.expand(self.of.lhs)).get(self.following, sp.S.Zero)

    def check(self, region: Region) -> None:
        """Check that P_next - P stands on the left with one constant factor >= 0."""
        left, right = linear_form(sp.expand(self.of.lhs)), linear_form(sp.expand(self.of.rhs))
        factor = self._factor()
        changes = self.weight is not None and self.weight in factor.free_symbols
        if {self.now, self.following} & right.keys() or changes or self.following not in left:
            raise DerivationError(f"{self.name}: the potential must stand on the left, unweighted.")
        if not region.proves_nonnegative(factor) or not region.proves_positive(self.steps):
            raise DerivationError(f"{self.name}: factor and number of steps must be >= 0.")


@final
@dataclass(frozen=True, slots=True)
class Average:
    """An inequality that holds at every step holds for the averages over steps.

    Attributes:
        name: What the step shows.
        of: The inequality.
    """

    name: str
    of: Claim

    @property
    def equality(self) -> bool:
        """Whether the averaged claim is an equality."""
        return self.of.equality

    @property
    def lhs(self) -> sp.Expr:
        """Average of the left side."""
        return average(self.of.lhs)

    @property
    def rhs(self) -> sp.Expr:
        """Average of the right side."""
        return average(self.of.rhs)

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        """Averages keep an inequality: nothing to check."""
