"""Lemmas about the loss: smoothness, convexity, bounds on its value."""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs.lemmas.base import Lemma
from elastic_consistency.bounds.proofs.lemmas.quantities import drop
from elastic_consistency.bounds.proofs.vectors import Point, inner, norm, squared_norm
from elastic_consistency.bounds.requirements import Requirement

Sides = tuple[sp.Expr, sp.Expr]


def _smooth(x: Point, y: Point) -> Sides:
    move = y.position - x.position
    return y.value, x.value + inner(x.gradient, move) + s.L / 2 * squared_norm(move)


def _strongly_convex(v: Point, best: Point) -> Sides:
    move = best.position - v.position
    return v.value + inner(v.gradient, move) + s.c / 2 * squared_norm(move), best.value


def _convex(v: Point, best: Point) -> Sides:
    return v.value + inner(v.gradient, best.position - v.position), best.value


def _smooth_and_convex(v: Point, best: Point) -> Sides:
    below, least = _convex(v, best)
    return below + squared_norm(v.gradient) / (2 * s.L), least


def _gradient_gap(x: Point, v: Point) -> Sides:
    apart = squared_norm(x.position - v.position)
    return squared_norm(x.gradient - v.gradient), s.L**2 * apart


def _gradient_size(v: Point, best: Point) -> Sides:
    return squared_norm(v.gradient), 2 * s.L * (v.value - best.value)


def _cocoercive(x: Point, best: Point) -> Sides:
    away, gradient = x.position - best.position, x.gradient
    both = s.c * s.L * squared_norm(away) + squared_norm(gradient)
    return both / (s.L + s.c), inner(gradient, away)


smoothness = Lemma(
    "smoothness",
    "f(y) <= f(x) + <grad f(x), y - x> + (L/2) |y - x|^2",
    _smooth,
    requires=frozenset({Requirement.SMOOTH}),
)
lipschitz_gradient = Lemma(
    "lipschitz_gradient",
    "|grad f(x) - grad f(v)|^2 <= L^2 |x - v|^2 (averaged over the views of a step)",
    _gradient_gap,
    requires=frozenset({Requirement.SMOOTH}),
)
gradient_size = Lemma(
    "gradient_size",
    "|grad f(v)|^2 <= 2 L (f(v) - f*), f* the least value",
    _gradient_size,
    requires=frozenset({Requirement.SMOOTH}),
)
strong_convexity = Lemma(
    "strong_convexity",
    "f(v) + <grad f(v), x* - v> + (c/2) |x* - v|^2 <= f*",
    _strongly_convex,
    requires=frozenset({Requirement.STRONGLY_CONVEX}),
)
convexity = Lemma(
    "convexity",
    "f(v) + <grad f(v), x* - v> <= f*",
    _convex,
    requires=frozenset({Requirement.CONVEX}),
)
smooth_convexity = Lemma(
    "smooth_convexity",
    "f(v) + <grad f(v), x* - v> + |grad f(v)|^2 / (2 L) <= f*",
    _smooth_and_convex,
    requires=frozenset({Requirement.SMOOTH, Requirement.CONVEX}),
)
cocoercivity = Lemma(
    "cocoercivity",
    "(c L |x - x*|^2 + |grad f(x)|^2) / (L + c) <= <grad f(x), x - x*>",
    _cocoercive,
    requires=frozenset({Requirement.SMOOTH, Requirement.STRONGLY_CONVEX}),
)
strong_monotonicity = Lemma(
    "strong_monotonicity",
    "c |x - x*|^2 <= <grad f(x), x - x*>",
    lambda x, best: (
        s.c * squared_norm(x.position - best.position),
        inner(x.gradient, x.position - best.position),
    ),
    requires=frozenset({Requirement.STRONGLY_CONVEX}),
)
least_value = Lemma(
    "least_value",
    "f(x*) <= f(v), x* the minimiser",
    lambda best, v: (best.value, v.value),
)
descent_budget = Lemma(
    "descent_budget",
    "f(x_0) - f(x_T) <= Delta",
    lambda value: (drop(value), s.Delta),
    requires=frozenset({Requirement.LOWER_BOUNDED}),
)
bounded_gradient = Lemma(
    "bounded_gradient",
    "|grad f(v)| <= G",
    lambda gradient: (norm(gradient), s.G),
    requires=frozenset({Requirement.BOUNDED_GRADIENT}),
)
gradients_at_two_views = Lemma(
    "gradients_at_two_views",
    "|grad f(v_i) - grad f(v_j)| <= L |v_i - v_j| <= 2 L sup |x - v|",
    lambda difference, gap: (norm(difference), 2 * s.L * gap),
    requires=frozenset({Requirement.SMOOTH}),
)
STATED = (
    smoothness,
    lipschitz_gradient,
    gradient_size,
    strong_convexity,
    convexity,
    smooth_convexity,
    cocoercivity,
    strong_monotonicity,
    least_value,
    descent_budget,
    bounded_gradient,
    gradients_at_two_views,
)
