"""SC2, SC3 and their parallel forms: sharper strongly convex bounds, from cocoercivity.

Contraction and noise gain a factor 2 over SC1. SC2 splits the step at x: r - alpha grad f(x) is
shorter than r by 1 - alpha c, and grad f(x) - grad f(v) is the perturbation; the gap weighs
(L/c)^2. SC3 splits at v; with k = L/c and small steps the gap weighs (k + 1)/2 + 2 k/(k - 1),
instead of SC1's 4 k + 2. One of the two is always below SC1.
"""

from collections.abc import Callable

import sympy as sp

from elastic_consistency.bounds import lemmas
from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.derivation import Derivation
from elastic_consistency.bounds.lemmas import Premise
from elastic_consistency.bounds.parallel_steps import strongly_convex_parallel_step
from elastic_consistency.bounds.recursions import Induction, Recursion
from elastic_consistency.bounds.steps import Combination
from elastic_consistency.bounds.strongly_convex_single_step import strongly_convex_single_step
from elastic_consistency.bounds.symbols import R0, B, L, T, alpha, c, p, sigma, w_min
from elastic_consistency.bounds.vectors import (
    ORIGIN,
    Point,
    Vector,
    nonnegative_atom,
    point,
    squared_norm,
    vector,
)
from elastic_consistency.execution.quantities import Quantity, Sequence

_W = sp.Symbol("w_t", positive=True)
_AWAY, _GAP = vector("x - x*"), vector("gap")
_BEST = Point("x*", ORIGIN, ORIGIN)
_X, _V = point("x", _AWAY), point("v", _AWAY - _GAP)
_FOLLOWING = squared_norm(vector("x+ - x*"))

Terms = tuple[tuple[sp.Expr, Premise], ...]
Split = Callable[[sp.Expr], Terms]


def split_at_the_iterate(a: sp.Expr) -> Terms:
    """Return the terms that bound |r - a grad f(v)|^2 by (1 - a c)|r|^2 + a L^2/c |gap|^2."""
    ahead, apart = _AWAY - a * _X.gradient, _X.gradient - _V.gradient
    shrink = 1 / (1 - a * c)
    rest = 2 / (L + c) - a
    return (
        ((1 - a * c) / (a * c), lemmas.square(a * c * shrink * ahead - a * apart)),
        (a / c, lemmas.lipschitz_gradient(_X, _V)),
        (2 * a * shrink, lemmas.cocoercivity(_X, _BEST)),
        (a * rest * shrink, lemmas.square(_X.gradient - c * _AWAY)),
        (2 * a * c * rest * shrink, lemmas.strong_monotonicity(_X, _BEST)),
    )


def split_at_the_view(a: sp.Expr) -> Terms:
    """Return the terms that bound |r - a grad f(v)|^2 by (1 - a c)|r|^2 + a weight |gap|^2."""
    curvature, share = 2 * a * c * L / (L + c), (L - c) / (2 * L)
    young = 2 / (L + c) - a
    return (
        (2 * a, lemmas.cocoercivity(_V, _BEST)),
        (a * young, lemmas.square(_V.gradient + (1 / young) * _GAP)),
        (curvature / share, lemmas.square(share * _AWAY - _GAP)),
    )


def prove_single(split: Split, weight: sp.Expr) -> Derivation:
    """Return the proof for one gradient a step.

    Args:
        split: Where the step is split.
        weight: Weight of the gap per step size.
    """
    noise = vector("noise")
    step = _V.gradient + noise
    one_step = Combination(
        "one step",
        goal=(
            _FOLLOWING,
            (1 - alpha * c) * squared_norm(_AWAY)
            + alpha * weight * alpha**2 * B**2
            + alpha**2 * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", _AWAY - alpha * step)),
            (-2 * alpha, lemmas.unbiased_noise(_AWAY, noise)),
            (2 * alpha**2, lemmas.unbiased_noise(_V.gradient, noise)),
            (alpha**2, lemmas.variance(noise)),
            *split(alpha),
            (alpha * weight, lemmas.elastic(_GAP)),
        ),
    )
    end = squared_norm(vector("x_T - x*"))
    distance = squared_norm(_AWAY)
    unrolled = Recursion("all steps", one_step, distance, end, T)
    started = Combination(
        "start",
        goal=(end, (1 - alpha * c) ** T * R0**2 + _floor(weight, 1)),
        terms=((sp.S.One, unrolled), ((1 - alpha * c) ** T, lemmas.initial_distance(distance))),
    )
    return Derivation(end, (one_step, unrolled, started))


def prove_parallel(split: Split, weight: sp.Expr) -> Derivation:
    """Return the proof for a changing part of p nodes, by induction."""
    step: Vector = vector("S")
    above, a = nonnegative_atom("D"), alpha * _W
    hypothesis = lemmas.induction_hypothesis(squared_norm(_AWAY), above, _floor(weight, p))
    one_step = Combination(
        "one step",
        goal=(_FOLLOWING, (1 - w_min * alpha * c) * above + _floor(weight, p)),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", _AWAY - alpha * step)),
            (-2 * alpha, lemmas.parallel_mean(_AWAY, step, _V.gradient, _W)),
            (alpha**2, lemmas.parallel_size(step, _V.gradient, _W)),
            *split(a),
            (a * weight, lemmas.elastic(_GAP)),
            (1 - a * c, hypothesis),
        ),
    )
    end = squared_norm(vector("x_T - x*"))
    unrolled = Induction("all steps", one_step, hypothesis, end, T)
    started = Combination(
        "start",
        goal=(end, (1 - w_min * alpha * c) ** T * R0**2 + _floor(weight, p)),
        terms=(
            (sp.S.One, unrolled),
            ((1 - w_min * alpha * c) ** T, lemmas.initial_distance(above)),
        ),
    )
    within = (sp.Ge(_W, w_min, evaluate=False), sp.Le(_W, 1))
    return Derivation(end, (one_step, unrolled, started), within=within, varying=(_W,))


def _floor(weight: sp.Expr, nodes: sp.Expr | int) -> sp.Expr:
    return weight / c * alpha**2 * B**2 + alpha * sigma**2 / (c * nodes)


_AT_ITERATE = L**2 / c
_AT_VIEW = (L + c) / (2 - alpha * (L + c)) + 2 * c * L / (L - c)
_PAGE = "docs/theory/strongly_convex_single_step.md"
_STEP = (sp.Lt(alpha, 2 / (L + c)), sp.Le(c, L))
_VIEW_STEP = (sp.Lt(alpha, 2 / (L + c)), sp.Lt(c, L))
_NODES = (sp.Le(w_min, 1), sp.Ge(p, 1, evaluate=False))
_START, _PARALLEL_START = (1 - alpha * c) ** T * R0**2, (1 - w_min * alpha * c) ** T * R0**2

strongly_convex_contraction = Bound(
    name="strongly_convex_contraction",
    title="SC2: strongly convex loss, one gradient a step, sharper than SC1 for small L/c",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=_START + _floor(_AT_ITERATE, 1),
    assumptions=_STEP,
    requirements=strongly_convex_single_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: prove_single(split_at_the_iterate, _AT_ITERATE),
    tight=True,
    note=(
        "Start and noise are below SC1's always, the gap term for L/c <= 2 + sqrt(6) = 4.45. "
        "On (c/2) x^2 each term is attained as alpha comes to 1/c."
    ),
)
strongly_convex_parallel_contraction = Bound(
    name="strongly_convex_parallel_contraction",
    title="SCp2: the same for steps that average at least w_min p of p nodes",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=_PARALLEL_START + _floor(_AT_ITERATE, p),
    assumptions=(*_STEP, *_NODES),
    requirements=strongly_convex_parallel_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: prove_parallel(split_at_the_iterate, _AT_ITERATE),
)
strongly_convex_at_view = Bound(
    name="strongly_convex_at_view",
    title="SC3: strongly convex loss, one gradient a step, sharper than SC1 for larger L/c",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=_START + _floor(_AT_VIEW, 1),
    assumptions=_VIEW_STEP,
    requirements=strongly_convex_single_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: prove_single(split_at_the_view, _AT_VIEW),
    note="Gap term below SC1's for L/c >= (2 + sqrt(7))/3; an eighth for small steps, large L/c.",
)
strongly_convex_parallel_at_view = Bound(
    name="strongly_convex_parallel_at_view",
    title="SCp3: the same for steps that average at least w_min p of p nodes",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=_PARALLEL_START + _floor(_AT_VIEW, p),
    assumptions=(*_VIEW_STEP, *_NODES),
    requirements=strongly_convex_parallel_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: prove_parallel(split_at_the_view, _AT_VIEW),
)
