"""NCp and SCp: steps that average the gradients of a changing part of p nodes."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.nonconvex_single_step import nonconvex_single_step
from elastic_consistency.bounds.convergence.strongly_convex_single_step import (
    strongly_convex_single_step,
)
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.recursions import Induction
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import (
    ORIGIN,
    Point,
    nonnegative_atom,
    point,
    squared_norm,
    vector,
)
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import PARALLEL_STEPS
from elastic_consistency.bounds.symbols import R0, B, Delta, L, T, alpha, c, p, sigma, w_min
from elastic_consistency.execution.quantities import Quantity, Sequence

_W = sp.Symbol("w_t", positive=True)
_PARTICIPATION = (sp.Ge(_W, w_min, evaluate=False), sp.Le(_W, 1))
_NOISE_OF_NODES = frozenset({Requirement.OBLIVIOUS})


def prove_nonconvex() -> Derivation:
    """Return the proof for the smallest gradient; participation w_t changes with the step."""
    x, v, step = point("x"), point("v"), vector("S")
    following = point("x+", x.position - alpha * step)
    size = squared_norm(x.gradient)
    floor = L**2 * alpha**2 * B**2 + L * alpha * sigma**2 / p
    excess, least = nonnegative_atom("excess"), nonnegative_atom("min E|grad f(x)|^2")
    one_step = Combination(
        "one step",
        goal=(following.value - x.value + alpha * w_min / 2 * excess, sp.S.Zero),
        terms=(
            (sp.S.One, lemmas.smoothness(x, following)),
            (-alpha, lemmas.parallel_mean(x.gradient, step, v.gradient, _W)),
            (L * alpha**2 / 2, lemmas.parallel_size(step, v.gradient, _W)),
            (alpha * _W / 2, lemmas.lipschitz_gradient(x, v)),
            (alpha * _W * L**2 / 2, lemmas.elastic(x.position - v.position)),
            (alpha * _W / 2, lemmas.least_of_steps(size, excess, floor)),
        ),
    )
    summed = Telescope("all steps", one_step, x.value, following.value, T)
    smallest = Combination(
        "smallest gradient",
        goal=(least, 2 * Delta / (w_min * alpha * T) + floor),
        terms=(
            (2 / (alpha * w_min), summed),
            (2 / (alpha * w_min * T), lemmas.descent_budget(x.value)),
            (sp.S.One, lemmas.smallest(least, lemmas.average(excess), floor)),
        ),
    )
    return Derivation(least, (one_step, summed, smallest), within=_PARTICIPATION, varying=(_W,))


def prove_strongly_convex() -> Derivation:
    """Return the proof by induction: the part above the noise floor shrinks at every step."""
    away, gap, step = vector("x - x*"), vector("gap"), vector("S")
    best, v = Point("x*", ORIGIN, ORIGIN), point("v", away - gap)
    floor = 2 * (2 * L + c) / c * alpha**2 * B**2 + 2 / (c * p) * alpha * sigma**2
    above = nonnegative_atom("D")
    hypothesis = lemmas.induction_hypothesis(squared_norm(away), above, floor)
    one_step = Combination(
        "one step",
        goal=(squared_norm(vector("x+ - x*")), (1 - w_min * alpha * c / 2) * above + floor),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", away - alpha * step)),
            (-2 * alpha, lemmas.parallel_mean(away, step, v.gradient, _W)),
            (alpha**2, lemmas.parallel_size(step, v.gradient, _W)),
            (2 * alpha * _W, lemmas.strong_convexity(v, best)),
            (alpha * _W * c / 2, lemmas.square(away - 2 * gap)),
            (alpha * _W / (2 * L), lemmas.square(2 * L * gap + v.gradient)),
            (alpha * _W / (2 * L) + alpha**2 * _W**2, lemmas.gradient_size(v, best)),
            (alpha * _W * (1 - 2 * L * alpha * _W), lemmas.least_value(best, v)),
            (alpha * _W * (2 * L + c), lemmas.elastic(gap)),
            (1 - alpha * _W * c / 2, hypothesis),
        ),
    )
    end = squared_norm(vector("x_T - x*"))
    unrolled = Induction("all steps", one_step, hypothesis, end, T)
    started = Combination(
        "start",
        goal=(end, (1 - w_min * alpha * c / 2) ** T * R0**2 + floor),
        terms=(
            (sp.S.One, unrolled),
            ((1 - w_min * alpha * c / 2) ** T, lemmas.initial_distance(above)),
        ),
    )
    return Derivation(end, (one_step, unrolled, started), within=_PARTICIPATION, varying=(_W,))


nonconvex_parallel_step = Bound(
    name="nonconvex_parallel_step",
    title="NCp: smooth loss, each step averages at least w_min p of p nodes",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=2 * Delta / (w_min * alpha * T) + L**2 * alpha**2 * B**2 + L * alpha * sigma**2 / p,
    assumptions=(sp.Le(alpha, 1 / L), sp.Le(w_min, 1), sp.Ge(p, 1, evaluate=False)),
    requirements=nonconvex_single_step.requirements | _NOISE_OF_NODES,
    source=Source("docs/theory/nonconvex_single_step.md", Status.DERIVED),
    proof=prove_nonconvex,
    note="Smallest E|grad f(x_t)|^2 over t < T; with w_min = 1 it is the average.",
    scope=PARALLEL_STEPS,
)
strongly_convex_parallel_step = Bound(
    name="strongly_convex_parallel_step",
    title="SCp: strongly convex loss, each step averages at least w_min p of p nodes",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=(1 - w_min * alpha * c / 2) ** T * R0**2
    + 2 * (2 * L + c) / c * alpha**2 * B**2
    + 2 / (c * p) * alpha * sigma**2,
    assumptions=(
        sp.Le(alpha, 1 / (2 * L)),
        sp.Le(c, L),
        sp.Le(w_min, 1),
        sp.Ge(p, 1, evaluate=False),
    ),
    requirements=strongly_convex_single_step.requirements | _NOISE_OF_NODES,
    source=Source("docs/theory/strongly_convex_single_step.md", Status.DERIVED),
    proof=prove_strongly_convex,
    scope=PARALLEL_STEPS,
)
