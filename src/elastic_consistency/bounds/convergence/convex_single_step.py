"""CV1 and CV2: SGD with an elastic constant on a convex loss, one gradient a step.

CV2 has the constants of plain SGD in start and noise, a quarter of CV1's. The linear programme of
`multiplier_search` showed that CV1's step was not the best one.
"""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import ORIGIN, Point, point, squared_norm, vector
from elastic_consistency.bounds.requirements import NOISY_DESCENT, Requirement
from elastic_consistency.bounds.symbols import R0, B, L, T, alpha, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove() -> Derivation:
    """Return the proof: SC1 without curvature, summed over the steps."""
    away, gap, noise = vector("x - x*"), vector("gap"), vector("noise")
    best, v = Point("x*", ORIGIN, ORIGIN), point("v", away - gap)
    after, before = squared_norm(vector("x+ - x*")), squared_norm(away)
    above = v.value - best.value
    one_step = Combination(
        "one step",
        goal=(
            after - before + alpha / 2 * above,
            2 * L * alpha**3 * B**2 + alpha**2 * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", away - alpha * (v.gradient + noise))),
            (-2 * alpha, lemmas.unbiased_noise(away, noise)),
            (2 * alpha**2, lemmas.unbiased_noise(v.gradient, noise)),
            (2 * alpha, lemmas.convexity(v, best)),
            (alpha / (2 * L), lemmas.square(2 * L * gap + v.gradient)),
            (alpha / (2 * L) + alpha**2, lemmas.gradient_size(v, best)),
            (alpha * (1 - 4 * L * alpha) / 2, lemmas.least_value(best, v)),
            (2 * alpha * L, lemmas.elastic(gap)),
            (alpha**2, lemmas.variance(noise)),
        ),
    )
    summed = Telescope("all steps", one_step, before, after, T)
    average = lemmas.average(above)
    divided = Combination(
        "divide by alpha / 2",
        goal=(average, convex_expression()),
        terms=((2 / alpha, summed), (2 / (alpha * T), lemmas.distance_budget(before))),
    )
    return Derivation(average, (one_step, summed, divided))


def prove_sharp() -> Derivation:
    """Return the proof: the gradient's share in convexity pays for the gap and the step."""
    away, gap, noise = vector("x - x*"), vector("gap"), vector("noise")
    best, v = Point("x*", ORIGIN, ORIGIN), point("v", away - gap)
    after, before = squared_norm(vector("x+ - x*")), squared_norm(away)
    above, weight = v.value - best.value, L / (1 - L * alpha)
    one_step = Combination(
        "one step",
        goal=(
            after - before + 2 * alpha * above,
            alpha * weight * alpha**2 * B**2 + alpha**2 * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", away - alpha * (v.gradient + noise))),
            (-2 * alpha, lemmas.unbiased_noise(away, noise)),
            (2 * alpha**2, lemmas.unbiased_noise(v.gradient, noise)),
            (2 * alpha, lemmas.smooth_convexity(v, best)),
            (alpha / weight, lemmas.square(v.gradient + weight * gap)),
            (alpha * weight, lemmas.elastic(gap)),
            (alpha**2, lemmas.variance(noise)),
        ),
    )
    summed = Telescope("all steps", one_step, before, after, T)
    average = lemmas.average(above)
    divided = Combination(
        "divide by 2 alpha",
        goal=(average, sharp_expression()),
        terms=((1 / (2 * alpha), summed), (1 / (2 * alpha * T), lemmas.distance_budget(before))),
    )
    return Derivation(average, (one_step, summed, divided))


def sharp_expression() -> sp.Expr:
    """Return R0^2 / (2 alpha T) + L alpha^2 B^2 / (2 (1 - L alpha)) + alpha sigma^2 / 2."""
    gap = L * alpha**2 * B**2 / (2 * (1 - L * alpha))
    return R0**2 / (2 * alpha * T) + gap + alpha * sigma**2 / 2


def convex_expression() -> sp.Expr:
    """Return 2 R0^2 / (alpha T) + 4 L alpha^2 B^2 + 2 alpha sigma^2."""
    return 2 * R0**2 / (alpha * T) + 4 * L * alpha**2 * B**2 + 2 * alpha * sigma**2


_UNMEASURED = "it speaks of losses at the views, and studies measure them at the sequence"

convex_single_step = Bound(
    name="convex_single_step",
    title="CV1: convex smooth loss, one gradient a step, elastic constant B",
    quantity=Quantity.SUBOPTIMALITY,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=convex_expression(),
    assumptions=(sp.Le(alpha, 1 / (4 * L)),),
    requirements=NOISY_DESCENT
    | {Requirement.CONVEX, Requirement.ELASTIC, Requirement.CONSTANT_STEP_SIZE},
    source=Source("docs/theory/strongly_convex_single_step.md", Status.DERIVED),
    proof=prove,
    note="Average of E[f(v_t) - f*] over the views; a time average of B^2 suffices.",
    scope=_UNMEASURED,
)

convex_sharp_step = Bound(
    name="convex_sharp_step",
    title="CV2: convex smooth loss, one gradient a step, the constants of plain SGD",
    quantity=Quantity.SUBOPTIMALITY,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=sharp_expression(),
    assumptions=(sp.Lt(alpha, 1 / L),),
    requirements=convex_single_step.requirements,
    source=Source("docs/theory/strongly_convex_single_step.md", Status.DERIVED),
    proof=prove_sharp,
    tight=True,
    note=(
        "Below CV1 in every term, for steps four times as large. Each term is attained: the start "
        "on a cone with a rounded tip, the noise on (L/2) x^2 as alpha comes to 1/L, the gap as "
        "alpha comes to 0 if it changes its sign at each step."
    ),
    scope=_UNMEASURED,
)
