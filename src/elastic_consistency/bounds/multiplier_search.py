"""Search for better multipliers of a proof step: a linear programme at numeric points.

With the premises of a step fixed, the smallest constant that they can prove at given parameters is
the value of a linear programme in the multipliers. What it finds at several points is then
recognised as a monomial in the parameters, to be written down as a certificate.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.catalogue import list_bounds
from elastic_consistency.bounds.claims import Claim, linear_form
from elastic_consistency.bounds.lemmas import square
from elastic_consistency.bounds.steps import Combination
from elastic_consistency.bounds.vectors import Vector

_POINTS: tuple[Mapping[str, float], ...] = tuple(
    {"L": 1.0, "c": c, "alpha": a, "B": b, "sigma": sigma, "p": 4.0, "w_min": 0.5, "w_t": 0.7}
    for c, a, (b, sigma) in itertools.product(
        (0.05, 0.3), (0.05, 0.24), ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    )
)
_EXPONENTS = range(-3, 4)


@final
@dataclass(frozen=True, slots=True)
class Found:
    """The best multipliers at one point.

    Attributes:
        constant: Smallest number that the premises prove in place of the constants on the right.
        claimed: The number that the step claims.
        multipliers: One number for each premise.
    """

    constant: float
    claimed: float
    multipliers: tuple[float, ...]

    @property
    def gain(self) -> float:
        """Share of the claimed constant that is saved; 0 if the step is the best possible."""
        return 0.0 if self.claimed == 0 else 1 - self.constant / self.claimed


def search(
    step: Combination, values: Mapping[str, float], *, further: Sequence[Claim] = ()
) -> Found | None:
    """Return the multipliers that prove the smallest constant at `values`.

    Args:
        step: The step; its atoms on both sides are kept, its constant on the right is minimised.
        values: Number for each parameter by its name.
        further: More premises than the step uses, for instance `young_squares`.

    Returns:
        None if the premises prove no constant at all at these values.
    """
    from scipy.optimize import linprog

    premises = (*step.premises, *further)
    goal = _numbers(step.rhs - step.lhs, values)
    columns = [_numbers(premise.rhs - premise.lhs, values) for premise in premises]
    atoms = sorted({a for form in (goal, *columns) for a in form} - {sp.S.One}, key=str)
    matrix = np.array([[column.get(atom, 0.0) for column in columns] for atom in atoms])
    limits = np.array([goal.get(atom, 0.0) for atom in atoms])
    signed = np.array([not atom.is_nonnegative for atom in atoms])
    result = linprog(
        [column.get(sp.S.One, 0.0) for column in columns],
        A_ub=matrix[~signed],
        b_ub=limits[~signed],
        A_eq=matrix[signed],
        b_eq=limits[signed],
        bounds=[(None, None) if premise.equality else (0, None) for premise in premises],
    )
    if result.status != 0:
        return None
    claimed = goal.get(sp.S.One, 0.0)
    return Found(float(result.fun), claimed, tuple(float(x) for x in result.x))


def young_squares(first: Vector, second: Vector, ratios: Sequence[float]) -> tuple[Claim, ...]:
    """Return 0 <= |ratio first + second|^2 and 0 <= |ratio first - second|^2 for each ratio."""
    numbers = [sp.Rational(str(ratio)) for ratio in ratios]
    return tuple(square(ratio * first + sign * second) for ratio in numbers for sign in (1, -1))


def recognise(values: Sequence[Mapping[str, float]], numbers: Sequence[float]) -> sp.Expr | None:
    """Return the monomial in alpha, L and c, with a rational factor, through all points.

    Args:
        values: The points, at least two that differ in every parameter.
        numbers: The number at each point.
    """
    if all(abs(number) < 1e-12 for number in numbers):
        return sp.S.Zero
    for powers in sorted(itertools.product(_EXPONENTS, repeat=3), key=lambda e: sum(map(abs, e))):
        scales = [
            math.prod(v[n] ** e for n, e in zip("aLc", powers, strict=True))
            for v in map(_short, values)
        ]
        ratios = np.array(numbers) / np.array(scales)
        if np.ptp(ratios) < 1e-7 * abs(ratios[0]):
            factor = sp.nsimplify(float(ratios[0]), rational=True, tolerance=1e-7)
            return factor * s.alpha ** powers[0] * s.L ** powers[1] * s.c ** powers[2]
    return None


def search_catalogue() -> dict[str, float]:
    """Return, for each bound with a one-step inequality, the largest share that can be saved.

    The points vary the parameters, and whether gap, noise or both are present.
    """
    gains = {}
    for bound in list_bounds():
        derivation = bound.derivation
        steps = [] if derivation is None else derivation.steps
        for step in steps:
            if step.name == "one step" and isinstance(step, Combination):
                found = [search(step, point) for point in _POINTS if _has_values(step, point)]
                gains[bound.name] = max((f.gain for f in found if f is not None), default=0.0)
    return gains


def _has_values(step: Combination, point: Mapping[str, float]) -> bool:
    from elastic_consistency.bounds.vectors import Atom

    symbols = (step.rhs - step.lhs).free_symbols - (step.rhs - step.lhs).atoms(Atom)
    return all(symbol.name in point for symbol in symbols)


def _short(values: Mapping[str, float]) -> dict[str, float]:
    return {"a": values["alpha"], "L": values["L"], "c": values.get("c", 1.0)}


def _numbers(expression: sp.Expr, values: Mapping[str, float]) -> dict[sp.Expr, float]:
    form = linear_form(sp.expand(expression))
    return {
        atom: float(coefficient.subs({x: values[x.name] for x in coefficient.free_symbols}))
        for atom, coefficient in form.items()
    }
