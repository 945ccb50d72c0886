"""A proof step that specialises a theorem: parameters take given values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.proofs.claims import Claim, DerivationError
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.region import Region


@final
@dataclass(frozen=True, slots=True)
class Substitution:
    """A theorem at given values of its parameters, which must lie in the theorem's region.

    Attributes:
        name: What the step shows.
        theorem: The derivation of the theorem.
        expression: Its bound.
        region: Its assumptions.
        values: Expression for each parameter that is replaced.
    """

    name: str
    theorem: Derivation
    expression: sp.Expr
    region: Region
    values: Mapping[sp.Symbol, sp.Expr]

    @property
    def equality(self) -> bool:
        """An inequality."""
        return False

    @property
    def lhs(self) -> sp.Expr:
        """The bounded quantity, with the values inserted."""
        return self.theorem.quantity.subs(self.values, simultaneous=True)

    @property
    def rhs(self) -> sp.Expr:
        """The bound, with the values inserted."""
        return self.expression.subs(self.values, simultaneous=True)

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the theorem uses."""
        return self.theorem.premises()

    def check(self, region: Region) -> None:
        """Check the theorem, the signs of the values, and the theorem's assumptions at them."""
        self.theorem.check(self.expression, self.region)
        for symbol, value in self.values.items():
            proves = region.proves_positive if symbol.is_positive else region.proves_nonnegative
            if not proves(value):
                raise DerivationError(f"{self.name}: the sign of {symbol} = {value} is not shown.")
        for relation in self.region.assumptions:
            self._check_relation(relation.subs(self.values, simultaneous=True), region)

    def _check_relation(self, relation: sp.Basic, region: Region) -> None:
        if relation == sp.true:
            return
        strict = isinstance(relation, sp.StrictLessThan | sp.StrictGreaterThan)
        excess = relation.gts - relation.lts
        if not (region.proves_positive(excess) if strict else region.proves_nonnegative(excess)):
            raise DerivationError(f"{self.name}: {relation} must hold on the assumed region.")
