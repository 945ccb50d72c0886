"""A derivation: the list of steps that ends in a bound."""

from dataclasses import dataclass
from typing import final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.claims import Claim, DerivationError, Step, vanishes
from elastic_consistency.bounds.proofs.lemmas import Premise
from elastic_consistency.bounds.proofs.recursions import Induction, Recursion
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.proofs.steps import Combination, SquareRoot
from elastic_consistency.bounds.proofs.telescoping import Average, Telescope
from elastic_consistency.bounds.requirements import Requirement


@final
@dataclass(frozen=True, slots=True)
class Derivation:
    """A certificate that a machine checks.

    Attributes:
        quantity: What the last step bounds: its left-hand side.
        steps: The steps, each of which may use the conclusions of those before it.
        within: Relations for variables of the proof that the bound does not show, such as a
            participation that changes from step to step; the proof holds for all their values.
        varying: Those that change from step to step; sums over steps must not contain them.
    """

    quantity: sp.Expr
    steps: tuple[Step, ...]
    within: tuple[Relational, ...] = ()
    varying: tuple[sp.Symbol, ...] = ()

    def check(self, expression: sp.Expr, region: Region) -> int:
        """Check every step and that the last one says `quantity <= expression`.

        Returns:
            Number of steps checked.

        Raises:
            DerivationError: If a step does not follow, naming it.
        """
        whole = Region(region.assumptions + self.within)
        for position, step in enumerate(self.steps):
            self._check_premises(position, whole)
            self._check_varying(step)
            step.check(whole)
        self._check_conclusion(expression)
        return len(self.steps)

    def premises(self) -> tuple[Premise, ...]:
        """Return the instances of lemmas that are used, in order."""
        used = (premise for step in self.steps for premise in step.premises)
        return tuple(premise for premise in used if isinstance(premise, Premise))

    def requirements(self) -> frozenset[Requirement]:
        """Return what the lemmas need of the system."""
        return frozenset().union(*(premise.lemma.requires for premise in self.premises()))

    def _check_premises(self, position: int, region: Region) -> None:
        step, earlier = self.steps[position], self.steps[:position]
        for premise in step.premises:
            if isinstance(premise, Premise):
                if not any(premise.lemma is lemma for lemma in lemmas.stated()):
                    raise DerivationError(f"{step.name}: {premise.name} must be a stated lemma.")
                _check_conditions(step, premise, region)
            elif not any(premise is other for other in earlier):
                raise DerivationError(f"{step.name}: {premise.name} must be an earlier step.")
            elif _is_hypothetical(premise) and not isinstance(step, Induction):
                raise DerivationError(f"{step.name}: {premise.name} holds in an induction only.")

    def _check_varying(self, step: Step) -> None:
        if isinstance(step, Telescope | Average | Recursion | Induction):
            left = (step.lhs.free_symbols | step.rhs.free_symbols) & set(self.varying)
            if left:
                raise DerivationError(f"{step.name}: {left} changes from step to step.")

    def _check_conclusion(self, expression: sp.Expr) -> None:
        last = self.steps[-1]
        if _is_hypothetical(last):
            raise DerivationError(f"{last.name}: must not rest on an induction hypothesis.")
        if not vanishes(last.lhs - self.quantity):
            raise DerivationError(f"{last.name}: must bound {self.quantity}, bounds {last.lhs}.")
        if not vanishes(last.rhs - expression):
            raise DerivationError(
                f"{last.name}: the derivation ends in {last.rhs}, the bound claims {expression}."
            )


def _check_conditions(step: Step, premise: Premise, region: Region) -> None:
    for condition in premise.conditions:
        if not region.proves_nonnegative(condition):
            raise DerivationError(f"{step.name}: {premise.name} needs {condition} >= 0.")


def _is_hypothetical(claim: Claim) -> bool:
    if not isinstance(claim, Combination | Telescope | Average | SquareRoot):
        return False
    return any(
        isinstance(premise, Premise) and premise.lemma is lemmas.induction_hypothesis
        for premise in claim.premises
    )
