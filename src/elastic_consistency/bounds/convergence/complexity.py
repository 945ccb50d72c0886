"""Steps that suffice for a target accuracy, certified from a convergence bound."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.bounded_staleness_nonconvex import (
    bounded_staleness_nonconvex,
)
from elastic_consistency.bounds.convergence.nonconvex_single_step import nonconvex_single_step
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.claims import Claim, DerivationError
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.substitution import Substitution
from elastic_consistency.bounds.proofs.vectors import nonnegative_atom, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import (
    B,
    Delta,
    L,
    R,
    T,
    alpha,
    epsilon,
    m,
    n,
    sigma,
    t_fast,
)
from elastic_consistency.execution.quantities import Quantity, Sequence

STEPS = nonnegative_atom("steps until the target is reached")
_PAGE = "docs/theory/complexity.md"


@final
@dataclass(frozen=True, slots=True)
class EnoughSteps:
    """A theorem that, at given values, is at most the target: its T steps suffice.

    Attributes:
        name: What the step shows.
        at_values: The theorem at these values, among them one for T.
        target: What its bound must not exceed.
        reason: Further premises, which explain the values.
    """

    name: str
    at_values: Substitution
    target: sp.Expr
    reason: tuple[Claim, ...] = ()

    @property
    def equality(self) -> bool:
        """An inequality: fewer steps may do."""
        return False

    @property
    def lhs(self) -> sp.Expr:
        """The number of steps that are needed."""
        return STEPS

    @property
    def rhs(self) -> sp.Expr:
        """The number of steps that suffice."""
        return self.at_values.values[T]

    @property
    def premises(self) -> tuple[Claim, ...]:
        """What the theorem uses."""
        return (*self.at_values.premises, *self.reason)

    def check(self, region: Region) -> None:
        """Check the theorem at the values, and that its bound is at most the target."""
        self.at_values.check(region)
        if not region.proves_nonnegative(self.target - self.at_values.rhs):
            raise DerivationError(
                f"{self.name}: {self.at_values.rhs} must be at most {self.target}."
            )


def enough_steps(
    theorem: Bound, values: Mapping[sp.Symbol, sp.Expr], *, reason: tuple[Claim, ...] = ()
) -> Derivation:
    """Return the proof that `theorem` at `values` reaches E|grad f|^2 <= epsilon."""
    derivation = theorem.derivation
    assert derivation is not None
    at_values = Substitution(theorem.name, derivation, theorem.expression, theorem.region, values)
    return Derivation(STEPS, (EnoughSteps("steps", at_values, epsilon, reason),))


def _steps(*, inverse_step: sp.Expr, factor: sp.Expr | int) -> sp.Expr:
    return sp.expand(factor * Delta / epsilon * inverse_step)


_RENNALA = 2 * L
_RENNALA_STEPS = _steps(inverse_step=_RENNALA, factor=4)
_RINGMASTER = 2 * R * L + 4 * L * sigma**2 / epsilon
_RINGMASTER_STEPS = _steps(inverse_step=_RINGMASTER, factor=4)
_ELASTIC = L + 3 * L * sigma**2 / epsilon + sp.sqrt(3) * L * B / sp.sqrt(epsilon)
_ELASTIC_STEPS = _steps(inverse_step=_ELASTIC, factor=6)
_NONCONVEX = nonconvex_single_step.requirements
_AWAY = sp.Gt(Delta, 0, evaluate=False)
_BATCH = (sp.Ge(m, sigma**2 / epsilon, evaluate=False), _AWAY)


def _rennala() -> Derivation:
    values = {alpha: 1 / _RENNALA, B: sp.S.Zero, sigma: sigma / sp.sqrt(m), T: _RENNALA_STEPS}
    reason = (lemmas.batch_variance(vector("noise")),)
    return enough_steps(nonconvex_single_step, values, reason=reason)


rennala_steps = Bound(
    name="rennala_steps",
    title="Rennala SGD: steps to E|grad f|^2 <= epsilon with mini-batches of m >= sigma^2/epsilon",
    quantity=Quantity.STEPS,
    sequence=Sequence.NONE,
    side=Side.UPPER,
    expression=_RENNALA_STEPS,
    assumptions=_BATCH,
    requirements=_NONCONVEX | {Requirement.OBLIVIOUS},
    source=Source(_PAGE, Status.DERIVED),
    proof=_rennala,
    note="Step 1/(2 L); a mean of m gradients at one point has variance sigma^2/m <= epsilon.",
)
published_rennala_steps = Bound(
    name="published_rennala_steps",
    title="Rennala SGD, the number of steps of its paper",
    quantity=Quantity.STEPS,
    sequence=Sequence.NONE,
    side=Side.UPPER,
    expression=24 * L * Delta / epsilon,
    assumptions=_BATCH,
    requirements=_NONCONVEX | {Requirement.OBLIVIOUS},
    source=Source("Tyurin, Richtarik (2023), arXiv:2305.12387", Status.IMPLIED),
    note="Three times the number that suffices.",
)


def prove_seconds() -> Derivation:
    """Return the proof: batches of m gradients, one after the other."""
    (steps,) = _rennala().steps
    seconds = nonnegative_atom("seconds until the target is reached")
    whole = Combination(
        "seconds",
        goal=(seconds, t_fast * (1 + m / n) * _RENNALA_STEPS),
        terms=(
            (sp.S.One, lemmas.seconds_of_batches(seconds, STEPS)),
            (t_fast * (1 + m / n), steps),
        ),
    )
    return Derivation(seconds, (steps, whole))


rennala_seconds = Bound(
    name="rennala_seconds",
    title="Rennala SGD: seconds to E|grad f|^2 <= epsilon, of any n workers, with batches of m",
    quantity=Quantity.TIME,
    sequence=Sequence.NONE,
    side=Side.UPPER,
    expression=t_fast * (1 + m / n) * _RENNALA_STEPS,
    assumptions=(*_BATCH, sp.Ge(n, 1, evaluate=False)),
    requirements=rennala_steps.requirements | {Requirement.FIXED_SPEEDS},
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_seconds,
    note=(
        "Holds for each choice of n of the workers, so for the best. With m = max(1, "
        "ceil(sigma^2/epsilon)) it is the optimal order t_fast (L Delta/epsilon + "
        "sigma^2 L Delta/(n epsilon^2)) with explicit constants."
    ),
)
ringmaster_steps = Bound(
    name="ringmaster_steps",
    title="Ringmaster ASGD: steps to E|grad f|^2 <= epsilon, staleness below R",
    quantity=Quantity.STEPS,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=_RINGMASTER_STEPS,
    assumptions=(sp.Ge(R, 1, evaluate=False), _AWAY),
    requirements=bounded_staleness_nonconvex.requirements,
    source=Source("Maranjyan, Tyurin, Richtarik (2025), arXiv:2501.16168", Status.REPRODUCED),
    proof=lambda: enough_steps(
        bounded_staleness_nonconvex, {alpha: 1 / _RINGMASTER, T: _RINGMASTER_STEPS}
    ),
    note="Step 1/(2 R L + 4 L sigma^2/epsilon); R = max(1, ceil(sigma^2/epsilon)) balances both.",
)
birch_steps = Bound(
    name="birch_steps",
    title="Birch SGD: steps to E|grad f|^2 <= epsilon, tree distance at most R",
    quantity=Quantity.STEPS,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=4 * (R + 1) * L * Delta / epsilon + 8 * sigma**2 * L * Delta / epsilon**2,
    assumptions=(sp.Ge(R, 1, evaluate=False), _AWAY),
    requirements=bounded_staleness_nonconvex.requirements,
    source=Source("Birch SGD (ICLR 2026 note)", Status.READ),
    note="Certified here only up to a factor of 2, and where 2 sigma^2/epsilon <= R, fully.",
)
elastic_steps = Bound(
    name="elastic_steps",
    title="SGD with elastic constant B: steps to E|grad f|^2 <= epsilon",
    quantity=Quantity.STEPS,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=_ELASTIC_STEPS,
    assumptions=(_AWAY,),
    requirements=_NONCONVEX,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: enough_steps(nonconvex_single_step, {alpha: 1 / _ELASTIC, T: _ELASTIC_STEPS}),
    note="Step 1/(L + 3 L sigma^2/epsilon + sqrt(3) L B/sqrt(epsilon)); B = 0 is plain SGD.",
)
