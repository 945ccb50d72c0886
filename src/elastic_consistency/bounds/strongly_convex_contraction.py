"""SC2 and SCp2: sharper strongly convex bounds, from the contraction of a gradient step at x.

The step is split at x instead of v: r - alpha grad f(x) is shorter than r by 1 - alpha c, and
grad f(x) - grad f(v) is the perturbation. Contraction and noise gain a factor 2 over SC1; the gap
weighs (L/c)^2 instead of 4 L/c + 2, which is less up to a condition number of 2 + sqrt(6).
"""

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


def prove_single() -> Derivation:
    """Return the proof for one gradient a step."""
    noise = vector("noise")
    step = _V.gradient + noise
    one_step = Combination(
        "one step",
        goal=(
            _FOLLOWING,
            (1 - alpha * c) * squared_norm(_AWAY)
            + alpha * L**2 / c * alpha**2 * B**2
            + alpha**2 * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.definition("x+ - x*", _AWAY - alpha * step)),
            (-2 * alpha, lemmas.unbiased_noise(_AWAY, noise)),
            (2 * alpha**2, lemmas.unbiased_noise(_V.gradient, noise)),
            (alpha**2, lemmas.variance(noise)),
            *split_at_the_iterate(alpha),
            (alpha * L**2 / c, lemmas.elastic(_GAP)),
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
            *split_at_the_iterate(a),
            (a * L**2 / c, lemmas.elastic(_GAP)),
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
    return L**2 / c**2 * alpha**2 * B**2 + alpha * sigma**2 / (c * nodes)


_PAGE = "docs/theory/strongly_convex_single_step.md"
_STEP = (sp.Lt(alpha, 2 / (L + c)), sp.Le(c, L))

strongly_convex_contraction = Bound(
    name="strongly_convex_contraction",
    title="SC2: strongly convex loss, one gradient a step, sharper than SC1 for small L/c",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=(1 - alpha * c) ** T * R0**2 + _floor(1),
    assumptions=_STEP,
    requirements=strongly_convex_single_step.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_single,
    tight=True,
    note="Start and noise are below SC1's always, the gap term for L/c <= 2 + sqrt(6) = 4.45. "
    "On (c/2) x^2 each term is attained as alpha comes to 1/c.",
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
)
