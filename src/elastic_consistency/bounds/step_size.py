"""Step size as a function of the target: largest certified step, steps, and time."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import sympy as sp

from elastic_consistency.bounds.bound import AssumptionError, Bound
from elastic_consistency.bounds.symbols import R0, B, Delta, L, alpha, c, epsilon, epsilon_x, sigma

_LARGEST = 1e15
_INSIDE = 1e-9  # share by which a plan stays below a limit that is not admitted itself


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """A step size and the number of steps after which a bound certifies the target.

    Attributes:
        step_size: alpha, > 0.
        steps: Number of steps T that suffices.
        bound: Value of the bound there, at most the target.
    """

    step_size: float
    steps: int
    bound: float

    def seconds(self, steps_per_second: float) -> float:
        """Return the time that the steps take at a given rate, s."""
        return self.steps / steps_per_second


def largest_certified_step(bound: Bound, values: Mapping[str, float]) -> float:
    """Return the largest step size that the assumptions of a bound admit; inf if any.

    Where the assumption is strict, every smaller step size is admitted.

    Args:
        bound: A bound with a step size.
        values: Number for each symbol that limits the step size, by its name.

    Raises:
        AssumptionError: If the bound has no step size or such a symbol has no value.
    """
    if alpha not in bound.symbols:
        raise AssumptionError(f"largest_certified_step: bound must have alpha, got {bound.name}.")
    limits = [r.rhs for r in bound.assumptions if r.lhs == alpha]
    missing = sorted({s.name for limit in limits for s in limit.free_symbols} - set(values))
    if missing:
        raise AssumptionError(f"{bound.name} needs values for {', '.join(missing)}.")
    numbers = [
        float(limit.subs({s: values[s.name] for s in limit.free_symbols})) for limit in limits
    ]
    return min(numbers, default=math.inf)


def steps_to_target(
    bound: Bound, values: Mapping[str, float], *, target: float, step_size: float
) -> int | None:
    """Return the fewest steps T at which the bound is at most the target; None if never."""
    compiled = bound.numpy_function()

    def at(steps: float) -> float:
        numbers = dict(values) | {"alpha": step_size, "T": steps}
        try:
            return float(compiled(*(numbers[s.name] for s in bound.symbols)))
        except ZeroDivisionError:  # at the end of a range that does not belong to it
            return math.inf

    if not at(_LARGEST) <= target:
        return None
    low, high = 0, 1
    while at(high) > target:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle) > target else (low, middle)
    return high


def plan(bound: Bound, values: Mapping[str, float], *, target: float) -> Plan:
    """Return the certified step size that needs the fewest steps, and their number.

    Args:
        bound: A bound with alpha and T, decreasing in T.
        values: Number for each other symbol by its name.
        target: What the bounded quantity shall not exceed, > 0, in its own unit.

    Raises:
        AssumptionError: If no step size reaches the target, or a value is missing.
    """
    from scipy.optimize import minimize_scalar

    limit = largest_certified_step(bound, values)
    strict = any(isinstance(r, sp.StrictLessThan) for r in bound.assumptions if r.lhs == alpha)
    top = (limit * (1 - _INSIDE * strict)) if math.isfinite(limit) else 1e6
    free = {"alpha", "T"}
    missing = [s.name for s in bound.symbols if s.name not in values and s.name not in free]
    if missing:
        raise AssumptionError(f"plan: {bound.name} needs values for {', '.join(missing)}.")

    def cost(logarithm: float) -> float:
        steps = steps_to_target(bound, values, target=target, step_size=math.exp(logarithm))
        return math.inf if steps is None else math.log(steps)

    start = math.log(top)
    candidates = [start - 0.25 * index for index in range(160)]
    best = min(candidates, key=cost)
    if math.isinf(cost(best)):
        raise AssumptionError(f"plan: no step size certifies {target} with {bound.name}.")
    refined = minimize_scalar(cost, bounds=(best - 0.25, min(best + 0.25, start)), method="bounded")
    step = math.exp(min((best, float(refined.x), start), key=cost))
    return _plan_at(bound, values, target=target, step_size=min(step, top))


def _plan_at(bound: Bound, values: Mapping[str, float], *, target: float, step_size: float) -> Plan:
    steps = steps_to_target(bound, values, target=target, step_size=step_size)
    assert steps is not None
    numbers = dict(values) | {"alpha": step_size, "T": float(steps)}
    return Plan(step_size, steps, bound.evaluate(numbers))


def formulas(bound: Bound) -> tuple[sp.Expr, sp.Expr] | None:
    """Return step size and steps to a target in symbols, where they have been solved for.

    The largest admitted step size comes on top of the first; the second is a function of alpha.
    """
    solved = {
        "nonconvex_single_step": (nonconvex_step, nonconvex_steps),
        "strongly_convex_single_step": (strongly_convex_step, strongly_convex_steps),
    }
    if bound.name not in solved:
        return None
    step, steps = solved[bound.name]
    return step(), steps()


def nonconvex_step() -> sp.Expr:
    """Return the step that minimises the steps of NC1 to epsilon; the limit 1/L comes on top.

    It maximises alpha (epsilon - L sigma^2 alpha - L^2 B^2 alpha^2).
    """
    return epsilon / (L * sigma**2 + sp.sqrt(L**2 * sigma**4 + 3 * L**2 * B**2 * epsilon))


def nonconvex_steps() -> sp.Expr:
    """Return the steps of NC1 to epsilon as a function of alpha."""
    return 2 * Delta / (alpha * (epsilon - L * sigma**2 * alpha - L**2 * B**2 * alpha**2))


def strongly_convex_step() -> sp.Expr:
    """Return the step at which the floor of SC1 is half of the target epsilon_x."""
    gap, noise = 2 * (2 * L + c) / c * B**2, 2 / c * sigma**2
    return epsilon_x / (noise + sp.sqrt(noise**2 + 2 * gap * epsilon_x))


def strongly_convex_steps() -> sp.Expr:
    """Return the steps after which the start of SC1 is below half of the target epsilon_x."""
    return sp.log(2 * R0**2 / epsilon_x) / -sp.log(1 - alpha * c / 2)
