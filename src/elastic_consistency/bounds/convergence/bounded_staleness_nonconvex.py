"""D1: bounded staleness on smooth losses, without any bound on the gradients."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.descent_with_drift import descent_with_drift
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Average, Telescope
from elastic_consistency.bounds.proofs.vectors import point, squared_norm, vector
from elastic_consistency.bounds.requirements import NOISY_DESCENT, Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import Delta, L, R, T, alpha, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove() -> Derivation:
    """Return the proof: the drift is a sum of at most R updates; each is in at most R drifts."""
    x, noise, gap = point("x"), vector("noise"), vector("x - v")
    v = point("v", x.position - gap)
    following = point("x+", x.position - alpha * (v.gradient + noise))
    descent = descent_with_drift(
        x, following, v, noise, step_size=alpha, spread=lemmas.variance(noise)
    )
    summed = Telescope("all steps", descent, x.value, following.value, T)
    means, noises = vector("means"), vector("noises")
    size = squared_norm(v.gradient)
    drift = Combination(
        "drift",
        goal=(
            squared_norm(gap),
            2 * alpha**2 * R * lemmas.window(size) + 2 * alpha**2 * R * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x - v", -alpha * (means + noises))),
            (alpha**2, lemmas.square(means - noises)),
            (2 * alpha**2, lemmas.window_sum(means, v.gradient, R)),
            (2 * alpha**2, lemmas.noise_of_several(noises, R)),
        ),
    )
    mean_drift = Average("mean drift", drift)
    average = lemmas.average(squared_norm(x.gradient))
    total = Combination(
        "together",
        goal=(average, staleness_expression()),
        terms=(
            (2 / alpha, summed),
            (2 / (alpha * T), lemmas.descent_budget(x.value)),
            (L**2, mean_drift),
            (2 * L**2 * alpha**2 * R, lemmas.window_exchange(size, R)),
        ),
    )
    return Derivation(average, (descent, summed, drift, mean_drift, total))


def staleness_expression() -> sp.Expr:
    """Return 2 Delta / (alpha T) + L alpha sigma^2 (1 + 2 alpha L R)."""
    return 2 * Delta / (alpha * T) + L * alpha * sigma**2 * (1 + 2 * alpha * L * R)


bounded_staleness_nonconvex = Bound(
    name="bounded_staleness_nonconvex",
    title="D1: asynchronous SGD, smooth loss, staleness at most R, gradients not bounded",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=staleness_expression(),
    assumptions=(sp.Le(alpha, 1 / (2 * L * R)), sp.Ge(R, 1, evaluate=False)),
    requirements=NOISY_DESCENT
    | {
        Requirement.LOWER_BOUNDED,
        Requirement.OBLIVIOUS,
        Requirement.BOUNDED_STALENESS,
        Requirement.CONSTANT_STEP_SIZE,
    },
    source=Source("docs/theory/bounded_staleness.md", Status.DERIVED),
    proof=prove,
    note="R is the larger of 1 and the bound on the staleness.",
    scope=Scope(System.SERVER),
)
