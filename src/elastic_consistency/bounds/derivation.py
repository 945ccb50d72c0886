"""A derivation: the list of steps that ends in a bound."""

from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.lemmas import Premise
from elastic_consistency.bounds.region import Region
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.steps import DerivationError, Step, vanishes


@final
@dataclass(frozen=True, slots=True)
class Derivation:
    """A certificate that a machine checks.

    Attributes:
        quantity: What the last step bounds: its left-hand side.
        steps: The steps, each of which may use the conclusions of those before it.
    """

    quantity: sp.Expr
    steps: tuple[Step, ...]

    def check(self, expression: sp.Expr, region: Region) -> int:
        """Check every step and that the last one says `quantity <= expression`.

        Returns:
            Number of steps checked.

        Raises:
            DerivationError: If a step does not follow, naming it.
        """
        for position, step in enumerate(self.steps):
            self._check_premises(position)
            step.check(region)
        self._check_conclusion(expression)
        return len(self.steps)

    def premises(self) -> tuple[Premise, ...]:
        """Return the instances of lemmas that are used, in order."""
        used = (premise for step in self.steps for premise in step.premises)
        return tuple(premise for premise in used if isinstance(premise, Premise))

    def requirements(self) -> frozenset[Requirement]:
        """Return what the lemmas need of the system."""
        return frozenset().union(*(premise.lemma.requires for premise in self.premises()))

    def _check_premises(self, position: int) -> None:
        earlier = self.steps[:position]
        for premise in self.steps[position].premises:
            if isinstance(premise, Premise):
                continue
            if not any(premise is step for step in earlier):
                raise DerivationError(
                    f"{self.steps[position].name}: {premise.name} must be an earlier step."
                )

    def _check_conclusion(self, expression: sp.Expr) -> None:
        last = self.steps[-1]
        if not vanishes(last.lhs - self.quantity):
            raise DerivationError(f"{last.name}: must bound {self.quantity}, bounds {last.lhs}.")
        if not vanishes(last.rhs - expression):
            raise DerivationError(
                f"{last.name}: the derivation ends in {last.rhs}, the bound claims {expression}."
            )
