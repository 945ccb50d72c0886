"""Search for better multipliers in the proofs of the catalogue, at points of the assumed region."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.bound import Bound, admits
from elastic_consistency.bounds.catalogue import list_bounds
from elastic_consistency.bounds.explain import moved_inside
from elastic_consistency.bounds.proofs.candidate_premises import candidate_premises
from elastic_consistency.bounds.proofs.claims import linear_form
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.linear_programme import Found, Programme
from elastic_consistency.bounds.proofs.recursions import Induction, Recursion
from elastic_consistency.bounds.proofs.steps import Combination, SquareRoot
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import Atom
from elastic_consistency.bounds.symbols import SLOPE, symbol_table

_SPREAD = 0.7  # decades around the example values
_LARGEST_T = 1e12
_NOTHING = 1e-6  # a share below this is the accuracy of the solver


@final
@dataclass(frozen=True, slots=True)
class Searched:
    """What the search found for one step of a bound.

    Attributes:
        step: Name of the step.
        own: Number of premises that it uses.
        further: Number of premises that were tried besides them.
        points: Number of points of the assumed region.
        best_own: The point at which its own premises save most.
        best: The point at which all premises save most.
        proved: Number that the bound would be there with the multipliers found, once the start is
            forgotten; None where the constant of the step does not carry the whole bound.
        catalogue: Name and value of the smallest bound of the catalogue for such systems there.
    """

    step: str
    own: int
    further: int
    points: int
    best_own: Found
    best: Found
    proved: float | None
    catalogue: tuple[str, float] | None

    @property
    def is_sharper(self) -> bool | None:
        """Whether what was found is below the catalogue there; None if a gain does not tell."""
        if self.best.gain < _NOTHING:
            return False
        if self.proved is None or self.catalogue is None:
            return None
        return self.proved < self.catalogue[1] * (1 - _NOTHING)


def search_bound(bound: Bound, *, n_points: int = 6) -> tuple[Searched, ...]:
    """Search every combination in the proof of a bound that has a constant on its right.

    Args:
        bound: The bound; without a certificate nothing is searched.
        n_points: Number of points of the assumed region, each with all sources of error (B,
            sigma, M, ...) and with one at a time.
    """
    derivation = bound.derivation
    if derivation is None:
        return ()
    points = _points_of(bound, derivation, n_points)
    found = [
        _search_step(bound, derivation, step, points)
        for step in derivation.steps
        if isinstance(step, Combination) and linear_form(sp.expand(step.rhs)).get(sp.S.One)
    ]
    return tuple(one for one in found if one is not None)


def _search_step(
    bound: Bound, derivation: Derivation, step: Combination, points: "_Points"
) -> Searched | None:
    further = candidate_premises(step, bound.requirements)
    own = _best(Programme(step), points)
    best = _best(Programme(step, further=further), points) if further else own
    if own is None or best is None:
        return None
    late = {**best.values, **({"T": _LARGEST_T} if "T" in best.values else {})}
    carries = _carries_the_bound(step, derivation)
    proved = _at(bound, late) * (1 - best.gain) if carries else None
    counts = len(step.premises), len(further), len(points)
    return Searched(step.name, *counts, own, best, proved, _smallest(bound, late))


def _carries_the_bound(step: Combination, derivation: Derivation) -> bool:
    """Return whether the step is summed or unrolled, alone, and nothing is rooted.

    An induction puts the constant into its hypothesis as well, where a gain is not linear.
    """
    runs = [one for one in derivation.steps if isinstance(one, Recursion | Telescope | Induction)]
    bent = any(isinstance(one, SquareRoot) for one in derivation.steps)
    alone = len(runs) == 1 and runs[0].of is step and not isinstance(runs[0], Induction)
    return alone and not bent


def _best(programme: Programme, points: "_Points") -> Found | None:
    """Return the point with the largest gain; variables of the proof take their worst values."""
    worst = []
    for cases in points:
        found = [programme.solve(case) for case in cases]
        solved = [one for one in found if one is not None]
        if len(solved) == len(cases):
            worst.append(min(solved, key=lambda one: one.gain))
    return max(worst, key=lambda one: one.gain, default=None)


def _smallest(bound: Bound, late: Mapping[str, float]) -> tuple[str, float] | None:
    """Return the smallest bound for the same quantity and systems, and its name."""
    rivals = [
        other
        for other in list_bounds()
        if other.quantity is bound.quantity
        and other.sequence is bound.sequence
        and other.requirements <= bound.requirements
        and (s.alpha in other.symbols) == (s.alpha in bound.symbols)
        and admits(other, late)
    ]
    named = [(_at(other, late), other.name) for other in rivals]
    value, name = min(named, default=(0.0, ""))
    return (name, value) if named else None


def _at(bound: Bound, values: Mapping[str, float]) -> float:
    return bound.evaluate({symbol.name: values[symbol.name] for symbol in bound.symbols})


def _points_of(bound: Bound, derivation: Derivation, count: int) -> "_Points":
    """Return points around the example values, each with all ends of the proof's own variables."""
    relations = (*bound.assumptions, *derivation.within)
    table, rng = symbol_table(), np.random.default_rng(0)
    names = sorted(_parameters(bound, derivation))
    found: _Points = []
    for _ in range(count):
        drawn = {
            name: (float(table[name].example) if name in table else 1.0)
            * 10 ** rng.uniform(-_SPREAD, _SPREAD)
            for name in names
        }
        for point in _by_source(moved_inside(drawn, relations)):
            if admits(bound, point):
                found.append(_ends(point, derivation.within))
    return found


def _ends(point: Mapping[str, float], within: tuple[Relational, ...]) -> list[Mapping[str, float]]:
    """Return the point with each variable of the proof at each end of its range."""
    ends: dict[str, list[float]] = {}
    for relation in within:
        limit = float(relation.rhs.subs({x: point[x.name] for x in relation.rhs.free_symbols}))
        ends.setdefault(relation.lhs.name, []).append(limit)
    return [
        {**point, **dict(zip(ends, chosen, strict=True))}
        for chosen in itertools.product(*ends.values())
    ]


def _parameters(bound: Bound, derivation: Derivation) -> set[str]:
    in_steps = set().union(*((step.rhs - step.lhs).free_symbols for step in derivation.steps))
    limits = set().union(*(relation.free_symbols for relation in derivation.within))
    return {x.name for x in (in_steps | limits | set(bound.symbols)) if not isinstance(x, Atom)}


def _by_source(values: Mapping[str, float]) -> list[Mapping[str, float]]:
    """Return the point, and the point with each source of error alone."""
    table = symbol_table()
    slopes = [n for n in values if n in table and table[n].dimension == SLOPE]
    alone = [
        {**values, **{other: 0.0 for other in slopes if other != name}}
        for name in slopes
        if len(slopes) > 1
    ]
    return [values, *alone]


_Points = list[list[Mapping[str, float]]]
