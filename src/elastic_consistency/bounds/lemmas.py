"""The lemmas that proofs may use, each stated once.

A premise of a proof is an instance of one of them: the inequality is computed from the
arguments, so a proof cannot misquote a lemma. Tests check each lemma on random instances.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.vectors import (
    Point,
    inner,
    nonnegative_atom,
    norm,
    signed_atom,
    squared_norm,
    vector,
)


@final
@dataclass(frozen=True, slots=True)
class Premise:
    """An instance lhs <= rhs (or lhs = rhs) of a lemma.

    Attributes:
        lemma: The lemma.
        arguments: Points, vectors and parameters that it is applied to.
        lhs: Left-hand side, linear in atoms.
        rhs: Right-hand side, linear in atoms.
    """

    lemma: "Lemma"
    arguments: tuple[Any, ...]
    lhs: sp.Expr = field(init=False)
    rhs: sp.Expr = field(init=False)

    def __post_init__(self) -> None:
        lhs, rhs = self.lemma.sides(*self.arguments)
        object.__setattr__(self, "lhs", sp.sympify(lhs))
        object.__setattr__(self, "rhs", sp.sympify(rhs))

    @property
    def name(self) -> str:
        """The lemma's name."""
        return self.lemma.name

    @property
    def equality(self) -> bool:
        """Whether the two sides are equal."""
        return self.lemma.equality


@final
@dataclass(frozen=True, slots=True)
class Lemma:
    """A family of inequalities.

    Attributes:
        name: Its name.
        statement: The inequality in words.
        sides: Function from the arguments to the two sides.
        equality: Whether the sides are equal.
        requires: What it needs of the system.
    """

    name: str
    statement: str
    sides: Callable[..., tuple[sp.Expr, sp.Expr]]
    equality: bool = False
    requires: frozenset[Requirement] = frozenset()

    def __call__(self, *arguments: Any) -> Premise:
        """Return the instance at `arguments`."""
        return Premise(self, arguments)


def drop(of: sp.Expr) -> sp.Expr:
    """Return the atom "first minus last value of `of`"."""
    return signed_atom(f"drop[{of}]")


def start(of: sp.Expr) -> sp.Expr:
    """Return the atom "first value of `of`"."""
    return nonnegative_atom(f"start[{of}]")


def window(of: sp.Expr) -> sp.Expr:
    """Return the atom "sum of `of` over the jobs in a window"."""
    return nonnegative_atom(f"sum in window[{of}]")


def average(of: sp.Expr) -> sp.Expr:
    """Return `of` with each atom replaced by its average over steps."""
    from elastic_consistency.bounds.vectors import Atom

    return of.subs(
        {
            a: (nonnegative_atom if a.is_nonnegative else signed_atom)(f"avg {a}")
            for a in of.atoms(Atom)
        },
        simultaneous=True,
    )


JOBS_BETWEEN = nonnegative_atom("N")
SUM_BETWEEN = nonnegative_atom("|sum of N updates|")


def _smooth(x: Point, y: Point) -> tuple[sp.Expr, sp.Expr]:
    move = y.position - x.position
    return y.value, x.value + inner(x.gradient, move) + s.L / 2 * squared_norm(move)


def _strongly_convex(v: Point, best: Point) -> tuple[sp.Expr, sp.Expr]:
    move = best.position - v.position
    return v.value + inner(v.gradient, move) + s.c / 2 * squared_norm(move), best.value


def _convex(v: Point, best: Point) -> tuple[sp.Expr, sp.Expr]:
    return v.value + inner(v.gradient, best.position - v.position), best.value


def _gradient_gap(x: Point, v: Point) -> tuple[sp.Expr, sp.Expr]:
    return (
        squared_norm(x.gradient - v.gradient),
        s.L**2 * squared_norm(x.position - v.position),
    )


def _gradient_size(v: Point, best: Point) -> tuple[sp.Expr, sp.Expr]:
    return squared_norm(v.gradient), 2 * s.L * (v.value - best.value)


smoothness = Lemma(
    "smoothness",
    "f(y) <= f(x) + <grad f(x), y - x> + (L/2) |y - x|^2",
    _smooth,
    requires=frozenset({Requirement.SMOOTH}),
)
lipschitz_gradient = Lemma(
    "lipschitz_gradient",
    "|grad f(x) - grad f(v)|^2 <= L^2 |x - v|^2",
    _gradient_gap,
    requires=frozenset({Requirement.SMOOTH}),
)
gradient_size = Lemma(
    "gradient_size",
    "|grad f(v)|^2 <= 2 L (f(v) - f*)",
    _gradient_size,
    requires=frozenset({Requirement.SMOOTH, Requirement.LOWER_BOUNDED}),
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
least_value = Lemma(
    "least_value",
    "f* <= f(v)",
    lambda best, v: (best.value, v.value),
    requires=frozenset({Requirement.LOWER_BOUNDED}),
)
definition = Lemma(
    "definition",
    "E|named|^2 expands into the inner products of what the name stands for",
    lambda name, meaning: (squared_norm(vector(name)), squared_norm(meaning)),
    equality=True,
)
unbiased_noise = Lemma(
    "unbiased_noise",
    "E<a, noise> = 0 for every vector a that is fixed before the sample is drawn",
    lambda a, noise: (inner(a, noise), sp.S.Zero),
    equality=True,
    requires=frozenset({Requirement.UNBIASED}),
)
orthogonal_noise = Lemma(
    "orthogonal_noise",
    "E<noise, noise'> = 0 for the noise of different jobs",
    lambda one, other: (inner(one, other), sp.S.Zero),
    equality=True,
    requires=frozenset({Requirement.UNBIASED, Requirement.OBLIVIOUS}),
)
variance = Lemma(
    "variance",
    "E|noise|^2 <= sigma^2",
    lambda noise: (squared_norm(noise), s.sigma**2),
    requires=frozenset({Requirement.VARIANCE}),
)
second_moment = Lemma(
    "second_moment",
    "|G| = sqrt(E|G|^2) <= M",
    lambda gradient: (norm(gradient), s.M),
    requires=frozenset({Requirement.SECOND_MOMENT}),
)
squared_second_moment = Lemma(
    "squared_second_moment",
    "E|G|^2 <= M^2",
    lambda gradient: (squared_norm(gradient), s.M**2),
    requires=frozenset({Requirement.SECOND_MOMENT}),
)
bounded_gradient = Lemma(
    "bounded_gradient",
    "|grad f| <= G",
    lambda gradient: (norm(gradient), s.G),
    requires=frozenset({Requirement.BOUNDED_GRADIENT}),
)
square = Lemma(
    "square",
    "0 <= |u|^2 (Young's inequality, with u = sqrt(b) x - y / sqrt(b))",
    lambda u: (sp.S.Zero, squared_norm(u)),
)
minkowski = Lemma(
    "minkowski",
    "|u + w| <= |u| + |w| for the norm sqrt(E|.|^2)",
    lambda u, w: (norm(u + w), norm(u) + norm(w)),
)
elastic = Lemma(
    "elastic",
    "E|x - v|^2 <= alpha^2 B^2",
    lambda gap: (squared_norm(gap), s.alpha**2 * s.B**2),
    requires=frozenset({Requirement.ELASTIC}),
)
descent_budget = Lemma(
    "descent_budget",
    "f(x_0) - f(x_T) <= Delta",
    lambda value: (drop(value), s.Delta),
    requires=frozenset({Requirement.LOWER_BOUNDED}),
)
vanishing_start = Lemma(
    "vanishing_start",
    "a quantity >= 0 that starts at zero: first - last <= 0",
    lambda of: (drop(of), sp.S.Zero),
)
starts_at_zero = Lemma(
    "starts_at_zero",
    "the first value is zero",
    lambda of: (start(of), sp.S.Zero),
)
initial_distance = Lemma(
    "initial_distance",
    "|x_0 - x*|^2 <= R0^2",
    lambda of: (start(of), s.R0**2),
)
distance_budget = Lemma(
    "distance_budget",
    "|x_0 - x*|^2 - |x_T - x*|^2 <= R0^2",
    lambda of: (drop(of), s.R0**2),
)
started_gap = Lemma(
    "started_gap",
    "x_k - v_k is minus the sum of the updates that were started before k and not yet applied",
    lambda: (norm(vector("x - v")), SUM_BETWEEN),
    equality=True,
    requires=frozenset({Requirement.STARTED_ORDER}),
)
applied_gap = Lemma(
    "applied_gap",
    "x_k - v_k is minus the sum of the updates that were applied between read and use",
    lambda: (norm(vector("x - v")), SUM_BETWEEN),
    equality=True,
    requires=frozenset({Requirement.APPLIED_ORDER}),
)
one_job_per_worker = Lemma(
    "one_job_per_worker",
    "at most n - 1 other jobs were read and not yet applied",
    lambda count: (count, s.n - 1),
    requires=frozenset({Requirement.ONE_UNAPPLIED_JOB}),
)
jobs_in_flight = Lemma(
    "jobs_in_flight",
    "at most c_jobs other jobs were read and not yet applied (the definition of c_jobs)",
    lambda count: (count, s.c_jobs),
)
bounded_staleness = Lemma(
    "bounded_staleness",
    "at most tau_max updates were applied between read and use",
    lambda count: (count, s.tau_max),
    requires=frozenset({Requirement.BOUNDED_STALENESS}),
)
