"""SC1: SGD with an elastic constant on a strongly convex loss, one gradient a step."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import ORIGIN, Point, point, squared_norm, vector
from elastic_consistency.bounds.requirements import NOISY_DESCENT, Requirement
from elastic_consistency.bounds.scope import SINGLE_STEPS
from elastic_consistency.bounds.symbols import R0, B, L, T, alpha, c, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove() -> Derivation:
    """Return the proof: contraction of the distance in one step, then the recursion."""
    one_step = contraction_step(gap_weight=alpha * (2 * L + c))
    distance = squared_norm(vector("x - x*"))
    end = squared_norm(vector("x_T - x*"))
    unrolled = Recursion("all steps", one_step, distance, end, T)
    started = Combination(
        "start",
        goal=(end, strongly_convex_expression()),
        terms=(
            (sp.S.One, unrolled),
            ((1 - alpha * c / 2) ** T, lemmas.initial_distance(distance)),
        ),
    )
    return Derivation(end, (one_step, unrolled, started))


def contraction_step(*, gap_weight: sp.Expr) -> Combination:
    """Return E|r+|^2 <= (1 - alpha c/2) E|r|^2 + gap_weight alpha^2 B^2 + alpha^2 sigma^2."""
    away, gap, noise = vector("x - x*"), vector("gap"), vector("noise")
    best, v = Point("x*", ORIGIN, ORIGIN), point("v", away - gap)
    following = away - alpha * (v.gradient + noise)
    return Combination(
        "one step",
        goal=(
            squared_norm(vector("x+ - x*")),
            (1 - alpha * c / 2) * squared_norm(away)
            + gap_weight * alpha**2 * B**2
            + alpha**2 * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", following)),
            (-2 * alpha, lemmas.unbiased_noise(away, noise)),
            (2 * alpha**2, lemmas.unbiased_noise(v.gradient, noise)),
            (2 * alpha, lemmas.strong_convexity(v, best)),
            (alpha * c / 2, lemmas.square(away - 2 * gap)),
            (alpha / (2 * L), lemmas.square(2 * L * gap + v.gradient)),
            (alpha / (2 * L) + alpha**2, lemmas.gradient_size(v, best)),
            (alpha * (1 - 2 * L * alpha), lemmas.least_value(best, v)),
            (gap_weight, lemmas.elastic(gap)),
            (alpha**2, lemmas.variance(noise)),
        ),
    )


def strongly_convex_expression() -> sp.Expr:
    """Return the bound: contraction of R0^2 plus the terms of the gap and of the noise."""
    contracted = (1 - alpha * c / 2) ** T * R0**2
    return contracted + 2 * (2 * L + c) / c * alpha**2 * B**2 + 2 / c * alpha * sigma**2


strongly_convex_single_step = Bound(
    name="strongly_convex_single_step",
    title="SC1: strongly convex loss, one gradient a step, elastic constant B",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=strongly_convex_expression(),
    assumptions=(sp.Le(alpha, 1 / (2 * L)), sp.Le(c, L)),
    requirements=NOISY_DESCENT
    | {Requirement.STRONGLY_CONVEX, Requirement.ELASTIC, Requirement.CONSTANT_STEP_SIZE},
    source=Source("docs/theory/strongly_convex_single_step.md", Status.DERIVED),
    proof=prove,
    note="E|x_T - x*|^2; B must hold at every step, a time average does not suffice.",
    scope=SINGLE_STEPS,
)
