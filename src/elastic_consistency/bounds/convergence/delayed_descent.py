"""Gradient descent with delays and without noise: a descent bound and the exact limit."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Average, Telescope
from elastic_consistency.bounds.proofs.vectors import Point, Vector, point, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import Delta, L, T, alpha, lambda_, tau
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/delayed_descent.md"
_MARGIN = 1 - alpha * L * (2 * tau + 1) / 2


def prove() -> Derivation:
    """Return the proof: each of the last tau moves weighs in at most tau drifts."""
    x, gap = point("x"), vector("x - v")
    v = point("v", x.position - gap)
    following = point("x+", x.position - alpha * v.gradient)
    size = squared_norm(v.gradient)
    one_step = _one_step(x, v, following, gap)
    summed = Telescope("all steps", one_step, x.value, following.value, T)
    drift = _drift(gap, v.gradient)
    mean_drift = Average("mean drift", drift)
    average = lemmas.average(size)
    together = Combination(
        "together",
        goal=(average, descent_expression()),
        terms=(
            (1 / (alpha * _MARGIN), summed),
            (1 / (alpha * _MARGIN * T), lemmas.descent_budget(x.value)),
            (L / (2 * tau * alpha * _MARGIN), mean_drift),
            (L * alpha / (2 * _MARGIN), lemmas.window_exchange(size, tau)),
        ),
    )
    return Derivation(average, (one_step, summed, drift, mean_drift, together))


def _one_step(x: Point, v: Point, following: Point, gap: Vector) -> Combination:
    size = squared_norm(v.gradient)
    return Combination(
        "one step",
        goal=(
            following.value - x.value + alpha * (1 - L * alpha / 2 - L * tau * alpha / 2) * size,
            L / (2 * tau) * squared_norm(gap),
        ),
        terms=(
            (sp.S.One, lemmas.smoothness(x, following)),
            (
                1 / (2 * L * tau),
                lemmas.square(x.gradient - v.gradient + L * tau * alpha * v.gradient),
            ),
            (1 / (2 * L * tau), lemmas.lipschitz_gradient(x, v)),
        ),
    )


def _drift(gap: Vector, gradient: Vector) -> Combination:
    total = vector("moves")
    return Combination(
        "drift",
        goal=(squared_norm(gap), alpha**2 * tau * lemmas.window(squared_norm(gradient))),
        terms=(
            (sp.S.One, lemmas.definition("x - v", -alpha * total)),
            (alpha**2, lemmas.window_sum(total, gradient, tau)),
        ),
    )


def descent_expression() -> sp.Expr:
    """Return Delta / (alpha T (1 - alpha L (2 tau + 1) / 2))."""
    return Delta / (alpha * T * _MARGIN)


delayed_gradient_descent = Bound(
    name="delayed_gradient_descent",
    title="gradient descent, smooth loss, staleness at most tau, no noise",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=descent_expression(),
    assumptions=(sp.Lt(alpha, 2 / (L * (2 * tau + 1))), sp.Gt(tau, 0, evaluate=False)),
    requirements=frozenset(
        {
            Requirement.SMOOTH,
            Requirement.LOWER_BOUNDED,
            Requirement.BOUNDED_STALENESS,
            Requirement.NOISE_FREE,
            Requirement.CONSTANT_STEP_SIZE,
        }
    ),
    source=Source(_PAGE, Status.DERIVED),
    proof=prove,
    note="Average of |grad f|^2 at the views; continuous at tau = 0, where it is the classic one.",
    scope="gradients at the views are not measured, and those of a study are noisy",
)
fixed_delay_stability = Bound(
    name="fixed_delay_stability",
    title="largest stable step of gradient descent with a fixed delay on curvature lambda",
    quantity=Quantity.STEP_SIZE,
    sequence=Sequence.NONE,
    side=Side.EQUAL,
    expression=2 * sp.sin(sp.pi / (2 * (2 * tau + 1))) / lambda_,
    assumptions=(),
    requirements=frozenset({Requirement.QUADRATIC, Requirement.FIXED_DELAY}),
    source=Source(_PAGE, Status.ARGUED),
    tight=True,
    note="x <- x - a lambda x(t - tau) is stable for smaller and unstable for larger steps.",
)
