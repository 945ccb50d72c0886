"""Premises that a proof step could use besides its own: what the search for multipliers tries."""

import itertools
from collections.abc import Iterator

import sympy as sp

from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.lemmas import Lemma, Premise
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import Point, Vector, point, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import L

_RATIOS = ("1/10", "1/3", "1", "3", "10")
_OF_TWO_POINTS = (lemmas.smoothness, lemmas.lipschitz_gradient)
_OF_A_POINT_AND_THE_BEST = (
    lemmas.strong_convexity,
    lemmas.convexity,
    lemmas.smooth_convexity,
    lemmas.gradient_size,
    lemmas.cocoercivity,
    lemmas.strong_monotonicity,
)


def candidate_premises(
    step: Combination, requirements: frozenset[Requirement]
) -> tuple[Premise, ...]:
    """Return instances of lemmas about the points of a step that hold for every such system.

    They are the lemmas about the loss, at all pairs of points of the step, and Young's inequality
    for each two of its gradients and distances, at five ratios.

    Args:
        step: The step; without points (a sum of norms, for instance) it has no candidates.
        requirements: What the systems satisfy; lemmas that need more are left out.
    """
    points = _points(step)
    found = itertools.chain(_about_the_loss(points, requirements), _young(points))
    used = {(premise.lhs, premise.rhs) for premise in step.premises}
    return tuple(premise for premise in found if (premise.lhs, premise.rhs) not in used)


def _points(step: Combination) -> list[Point]:
    """Return the points of a step and, where it has a minimiser, the others that it measures."""
    arguments = [
        argument
        for premise in step.premises
        if isinstance(premise, Premise)
        for argument in premise.arguments
    ]
    found = {argument.name: argument for argument in arguments if isinstance(argument, Point)}
    if any(_is_best(one) for one in found.values()):
        seen = [str(one.position) for one in found.values()]
        for length in _lengths(list(found.values())):
            if str(length) not in seen:
                found[str(length)] = point(f"x* + {length}", length)
    return list(found.values())


def _lengths(points: list[Point]) -> list[Vector]:
    """Return the named vectors that positions are made of, without those of a step."""
    parts = {n: f for one in points for n, f in one.position.terms.items() if f in (1, -1)}
    return [vector(name) for name in parts]


def _is_best(one: Point) -> bool:
    return not one.gradient.terms


def _about_the_loss(points: list[Point], requirements: frozenset[Requirement]) -> Iterator[Premise]:
    for one, other in itertools.permutations(points, 2):
        for lemma in _OF_TWO_POINTS:
            if _admitted(lemma, requirements):
                yield lemma(one, other)
        if _is_best(other):
            for lemma in _OF_A_POINT_AND_THE_BEST:
                if _admitted(lemma, requirements):
                    yield lemma(one, other)


def _admitted(lemma: Lemma, requirements: frozenset[Requirement]) -> bool:
    return lemma.requires <= requirements


def _young(points: list[Point]) -> Iterator[Premise]:
    gradients = [one.gradient for one in points if not _is_best(one)]
    between = [one.position - other.position for one, other in itertools.combinations(points, 2)]
    lengths = {str(length): L * length for length in (*_lengths(points), *between)}
    for one, other in itertools.combinations((*gradients, *lengths.values()), 2):
        yield from young_squares(one, other)


def young_squares(one: Vector, other: Vector) -> Iterator[Premise]:
    """Yield 0 <= |ratio one + other|^2 and 0 <= |ratio one - other|^2 for ratios of .1 to 10."""
    for ratio, sign in itertools.product(_RATIOS, (1, -1)):
        yield lemmas.square(sp.Rational(ratio) * one + sign * other)
