"""Proof steps that unroll a recursion."""

from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.proofs.claims import Claim, DerivationError, linear_form, vanishes
from elastic_consistency.bounds.proofs.lemmas import Premise, start
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.proofs.vectors import Atom


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
    of: Claim
    now: sp.Expr
    end: sp.Expr
    count: sp.Expr

    @property
    def equality(self) -> bool:
        """An unrolled inequality is an inequality."""
        return False

    def factor_and_constant(self) -> tuple[sp.Expr, sp.Expr]:
        """Return q and b."""
        form = linear_form(self.of.rhs)
        return form.pop(self.now, sp.S.Zero), form.pop(sp.S.One, sp.S.Zero)

    @property
    def lhs(self) -> sp.Expr:
        """The quantity r after the last step."""
        return self.end

    @property
    def rhs(self) -> sp.Expr:
        """The bound on it."""
        q, constant = self.factor_and_constant()
        if vanishes(q - 1):
            return start(self.now) + self.count * constant
        return q**self.count * start(self.now) + constant / (1 - q)

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        """Check the form of the step, b >= 0, and 0 <= q < 1 or q = 1."""
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
class Induction:
    """If r <= D + E implies r_next <= q D + E for every D >= 0, then r_N <= q^N D_0 + E.

    The factor may shrink more in some steps than in others, which a plain recursion with a
    constant b does not allow.

    Attributes:
        name: What the step shows.
        of: The inequality r_next <= q D + E, which may use the hypothesis.
        hypothesis: The instance r <= D + E of the lemma `induction_hypothesis`.
        end: The atom for r after `count` steps.
        count: Number of steps N.
    """

    name: str
    of: Claim
    hypothesis: Premise
    end: sp.Expr
    count: sp.Expr

    @property
    def equality(self) -> bool:
        """An inequality."""
        return False

    @property
    def lhs(self) -> sp.Expr:
        """The quantity r after the last step."""
        return self.end

    @property
    def rhs(self) -> sp.Expr:
        """The bound on it."""
        distance, floor = self.hypothesis.arguments[1:]
        return linear_form(self.of.rhs)[distance] ** self.count * start(distance) + floor

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the step uses."""
        return (self.of,)

    def check(self, region: Region) -> None:
        """Check that the same E returns and that q and E are >= 0."""
        distance, floor = self.hypothesis.arguments[1:]
        form = linear_form(self.of.rhs)
        q = form.pop(distance, sp.S.Zero)
        returned = form.pop(sp.S.One, sp.S.Zero)
        if form or not vanishes(returned - floor) or not isinstance(self.of.lhs, Atom):
            raise DerivationError(f"{self.name}: the step must read r_next <= q D + E.")
        if not region.proves_nonnegative(q) or not region.proves_nonnegative(floor):
            raise DerivationError(f"{self.name}: q and E must be >= 0, got q={q}, E={floor}.")
