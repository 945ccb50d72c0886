"""The largest step size that a theorem allows."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.bounds import Bound


@final
@dataclass(frozen=True, slots=True)
class CertifiedStep:
    """Where the assumptions of a theorem on the step size end.

    Attributes:
        bound: Name of the theorem.
        step_size: Largest step size that it allows; 0 if none, infinity if all.
        condition: The assumption that binds there.
        promise: The bound at that step size; None if the theorem says nothing.
        useful: Largest step size at which the bound is below what is possible anyway; 0 if
            there is none, None if it is not known what is possible.
    """

    bound: str
    step_size: float
    condition: str
    promise: float | None = None
    useful: float | None = None


def certified_step(
    bound: Bound, values: dict[str, float], *, ceiling: float | None = None
) -> CertifiedStep:
    """The largest alpha at which no assumption of `bound` fails; assumptions hold below it.

    Args:
        bound: A theorem with the symbol alpha.
        values: Number for each of its other symbols.
        ceiling: Largest possible value of what it bounds.
    """
    low, high = 1e-15, 1e15
    if _failed(bound, values, low):
        return CertifiedStep(bound.name, 0.0, "; ".join(_failed(bound, values, low)))
    if not _failed(bound, values, high):
        return CertifiedStep(bound.name, math.inf, "none")
    condition = "; ".join(_failed(bound, values, high))
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _failed(bound, values, middle) else (middle, high)
    promise = bound.evaluate(values | {"alpha": low})
    useful = None if ceiling is None else _largest_useful(bound, values, low, ceiling)
    return CertifiedStep(bound.name, low, condition, promise, useful)


def _largest_useful(bound: Bound, values: dict[str, float], most: float, ceiling: float) -> float:
    """Largest alpha on a fine grid up to `most` whose bound is below `ceiling`."""
    grid = np.geomspace(most * 1e-9, most, 20_001)
    at = {symbol.name: values.get(symbol.name) for symbol in bound.symbols} | {"alpha": grid}
    promises = bound.numpy_function()(*(at[symbol.name] for symbol in bound.symbols))
    below = grid[promises < ceiling]
    return float(below[-1]) if len(below) else 0.0


def _failed(bound: Bound, values: dict[str, float], alpha: float) -> tuple[str, ...]:
    return bound.failed_assumptions(values | {"alpha": alpha})
