"""The linear programme of a proof step: the multipliers that prove the smallest constant.

With the premises of a step fixed, the smallest constant that they can prove at given parameters is
the value of a linear programme in the multipliers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import sympy as sp

from elastic_consistency.bounds.proofs.claims import Claim, linear_form
from elastic_consistency.bounds.proofs.lemmas import Premise
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import Point


@final
@dataclass(frozen=True, slots=True)
class Found:
    """The best multipliers at one point.

    Attributes:
        values: The point: a number for each parameter by its name.
        constant: Smallest number that the premises prove in place of the constants on the right.
        claimed: The number that the step claims.
        multipliers: Premise and number, for each premise.
    """

    values: Mapping[str, float]
    constant: float
    claimed: float
    multipliers: tuple[tuple[Claim, float], ...]

    @property
    def gain(self) -> float:
        """Share of the claimed constant that is saved; 0 if the step is the best possible."""
        return 0.0 if self.claimed == 0 else 1 - self.constant / self.claimed

    def used(self) -> list[tuple[str, float]]:
        """Return each premise with a multiplier other than 0, in words."""
        largest = max(abs(number) for _, number in self.multipliers)
        return [
            (_in_words(premise), number)
            for premise, number in self.multipliers
            if abs(number) > 1e-9 * largest
        ]


class Programme:
    """The linear programme of one step, compiled once for all points."""

    def __init__(self, step: Combination, *, further: Sequence[Claim] = ()) -> None:
        self._premises = (*step.premises, *further)
        self._goal = _compiled(step.rhs - step.lhs)
        self._columns = [_compiled(premise.rhs - premise.lhs) for premise in self._premises]
        atoms = {atom for form in (self._goal, *self._columns) for atom in form} - {sp.S.One}
        self._atoms = sorted(atoms, key=str)

    def solve(self, values: Mapping[str, float]) -> Found | None:
        """Return the multipliers that prove the smallest constant; None if none prove any."""
        from scipy.optimize import linprog

        goal = {atom: of(values) for atom, of in self._goal.items()}
        columns = [{atom: of(values) for atom, of in form.items()} for form in self._columns]
        matrix = np.array([[form.get(atom, 0.0) for form in columns] for atom in self._atoms])
        limits = np.array([goal.get(atom, 0.0) for atom in self._atoms])
        prices = np.array([form.get(sp.S.One, 0.0) for form in columns])
        rows, scales = _scales(matrix, limits)
        matrix, limits = matrix * scales / rows[:, None], limits / rows
        unit = max(abs(prices * scales).max(), 1e-300)
        signed = np.array([not atom.is_nonnegative for atom in self._atoms], dtype=bool)
        result = linprog(
            prices * scales / unit,
            A_ub=matrix[~signed],
            b_ub=limits[~signed],
            A_eq=matrix[signed],
            b_eq=limits[signed],
            bounds=[(None, None) if one.equality else (0, None) for one in self._premises],
        )
        if result.status != 0:
            return None
        used = tuple(zip(self._premises, map(float, result.x * scales), strict=True))
        return Found(values, float(result.fun * unit), goal.get(sp.S.One, 0.0), used)


def _scales(matrix: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return units of rows and columns in which the numbers are of the order of 1.

    The solver's tolerances are absolute, and constants such as alpha^2 sigma^2 / p^2 are small.
    """
    sizes = abs(np.column_stack([matrix, limits]))
    rows, columns = np.ones(sizes.shape[0]), np.ones(sizes.shape[1])
    for _ in range(10):  # geometric scaling: largest and smallest entries come to meet at 1
        rows *= _middle(sizes / rows[:, None] / columns, axis=1)
        columns *= _middle(sizes / rows[:, None] / columns, axis=0)
    return rows * columns[-1], columns[-1] / columns[:-1]


def _middle(sizes: np.ndarray, *, axis: int) -> np.ndarray:
    """Return the geometric mean of largest and smallest entry that is not 0; 1 if all are."""
    largest = sizes.max(axis=axis)
    smallest = np.where(sizes > 0, sizes, np.inf).min(axis=axis)
    return np.where(largest > 0, np.sqrt(largest * np.where(largest > 0, smallest, 1.0)), 1.0)


def search(
    step: Combination, values: Mapping[str, float], *, further: Sequence[Claim] = ()
) -> Found | None:
    """Return the multipliers that prove the smallest constant at `values`.

    Args:
        step: The step; its atoms on both sides are kept, its constant on the right is minimised.
        values: Number for each parameter by its name.
        further: More premises than the step uses, for instance `candidate_premises`.

    Returns:
        None if the premises prove no constant at all at these values.
    """
    return Programme(step, further=further).solve(values)


def _in_words(premise: Claim) -> str:
    if not isinstance(premise, Premise):
        return f"step {premise.name!r}"
    listed = ", ".join(x.name if isinstance(x, Point) else str(x) for x in premise.arguments)
    return f"{premise.name}({listed})"


_Number = Callable[[Mapping[str, float]], float]


def _compiled(expression: sp.Expr) -> dict[sp.Expr, _Number]:
    """Return each coefficient of a linear form as a function of named values."""
    return {atom: _number_of(c) for atom, c in linear_form(sp.expand(expression)).items()}


def _number_of(coefficient: sp.Expr) -> _Number:
    symbols = sorted(coefficient.free_symbols, key=str)
    compiled = sp.lambdify(symbols, coefficient, "math")
    return lambda values: float(compiled(*(values[x.name] for x in symbols)))
