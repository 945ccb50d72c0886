"""SC2 and its parallel form: the best one-step bound for strongly convex losses.

With u = v - x* and h = grad f(v) - c u, cocoercivity says (L - c) <h, u> >= |h|^2, and nothing
else is known of h. The largest |r - alpha grad f(v)|^2 - (1 - alpha c)|r|^2 for a given gap is then
reached at h = (L - c) u, antiparallel to the gap: no premise can make the weight of the gap
smaller at this contraction. It was found by the linear programme of `multiplier_search`.
"""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.parallel_steps import strongly_convex_parallel_step
from elastic_consistency.bounds.convergence.strongly_convex_single_step import (
    strongly_convex_single_step,
)
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.lemmas import Premise
from elastic_consistency.bounds.proofs.recursions import Induction, Recursion
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import (
    ORIGIN,
    Point,
    Vector,
    nonnegative_atom,
    point,
    squared_norm,
    vector,
)
from elastic_consistency.bounds.scope import PARALLEL_STEPS, SINGLE_STEPS
from elastic_consistency.bounds.symbols import R0, B, L, T, alpha, c, p, sigma, w_min
from elastic_consistency.execution.quantities import Quantity, Sequence

_W = sp.Symbol("w_t", positive=True)
_AWAY, _GAP = vector("x - x*"), vector("gap")
_FROM_BEST = _AWAY - _GAP
_BEST = Point("x*", ORIGIN, ORIGIN)
_V = point("v", _FROM_BEST)
_FOLLOWING = squared_norm(vector("x+ - x*"))


def _room(a: sp.Expr) -> sp.Expr:
    return 2 * L - c - a * L**2


def contraction_terms(a: sp.Expr) -> tuple[tuple[sp.Expr, Premise], ...]:
    """Return the terms that bound |r - a grad f(v)|^2 by (1 - a c)|r|^2 + a weight |gap|^2.

    Args:
        a: The step size; the weight is c + (L - c)^2/(2 L - c - a L^2).
    """
    spread, above = (L - c) ** 2, _V.gradient - c * _FROM_BEST
    shrink = a * (1 - a * c) / spread
    return (
        (2 * L * (L + c) * shrink, lemmas.cocoercivity(_V, _BEST)),
        (c * shrink, lemmas.square(L * _FROM_BEST - _V.gradient)),
        (a * _room(a) / spread, lemmas.square(spread / _room(a) * _GAP + above)),
    )


def prove_single() -> Derivation:
    """Return the proof for one gradient a step."""
    noise = vector("noise")
    step = _V.gradient + noise
    one_step = Combination(
        "one step",
        goal=(
            _FOLLOWING,
            (1 - alpha * c) * squared_norm(_AWAY)
            + alpha * _WEIGHT * alpha**2 * B**2
            + alpha**2 * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", _AWAY - alpha * step)),
            (-2 * alpha, lemmas.unbiased_noise(_AWAY, noise)),
            (2 * alpha**2, lemmas.unbiased_noise(_V.gradient, noise)),
            (alpha**2, lemmas.variance(noise)),
            *contraction_terms(alpha),
            (alpha * _WEIGHT, lemmas.elastic(_GAP)),
        ),
    )
    end = squared_norm(vector("x_T - x*"))
    distance = squared_norm(_AWAY)
    unrolled = Recursion("all steps", one_step, distance, end, T)
    started = Combination(
        "start",
        goal=(end, (1 - alpha * c) ** T * R0**2 + _floor(1)),
        terms=((sp.S.One, unrolled), ((1 - alpha * c) ** T, lemmas.initial_distance(distance))),
    )
    return Derivation(end, (one_step, unrolled, started))


def prove_parallel() -> Derivation:
    """Return the proof for a changing part of p nodes, by induction."""
    step: Vector = vector("S")
    above, a = nonnegative_atom("D"), alpha * _W
    hypothesis = lemmas.induction_hypothesis(squared_norm(_AWAY), above, _floor(p))
    one_step = Combination(
        "one step",
        goal=(_FOLLOWING, (1 - w_min * alpha * c) * above + _floor(p)),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", _AWAY - alpha * step)),
            (-2 * alpha, lemmas.parallel_mean(_AWAY, step, _V.gradient, _W)),
            (alpha**2, lemmas.parallel_size(step, _V.gradient, _W)),
            *contraction_terms(a),
            (a * _WEIGHT, lemmas.elastic(_GAP)),
            (1 - a * c, hypothesis),
        ),
    )
    end = squared_norm(vector("x_T - x*"))
    unrolled = Induction("all steps", one_step, hypothesis, end, T)
    started = Combination(
        "start",
        goal=(end, (1 - w_min * alpha * c) ** T * R0**2 + _floor(p)),
        terms=(
            (sp.S.One, unrolled),
            ((1 - w_min * alpha * c) ** T, lemmas.initial_distance(above)),
        ),
    )
    within = (sp.Ge(_W, w_min, evaluate=False), sp.Le(_W, 1))
    return Derivation(end, (one_step, unrolled, started), within=within, varying=(_W,))


def _floor(nodes: sp.Expr | int) -> sp.Expr:
    return _WEIGHT / c * alpha**2 * B**2 + alpha * sigma**2 / (c * nodes)


_WEIGHT = c + (L - c) ** 2 / _room(alpha)
_PAGE = "docs/theory/strongly_convex_single_step.md"
_STEP = (sp.Lt(alpha, (2 * L - c) / L**2), sp.Lt(c, L))

strongly_convex_contraction = Bound(
    name="strongly_convex_contraction",
    title="SC2: strongly convex loss, one gradient a step, the best weight of the gap",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=(1 - alpha * c) ** T * R0**2 + _floor(1),
    assumptions=_STEP,
    requirements=strongly_convex_single_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_single,
    tight=True,
    note=(
        "Below SC1 in every term, for larger steps too. The gap term is attained at "
        "alpha = 2/(L + c) by a gap that changes its sign at each step, start and noise on "
        "(c/2) x^2."
    ),
    scope=SINGLE_STEPS,
)
strongly_convex_parallel_contraction = Bound(
    name="strongly_convex_parallel_contraction",
    title="SCp2: the same for steps that average at least w_min p of p nodes",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=(1 - w_min * alpha * c) ** T * R0**2 + _floor(p),
    assumptions=(*_STEP, sp.Le(w_min, 1), sp.Ge(p, 1, evaluate=False)),
    requirements=strongly_convex_parallel_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_parallel,
    scope=PARALLEL_STEPS,
)
