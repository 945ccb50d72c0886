"""Dimensional analysis: every bound is homogeneous in length, loss and time."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.symbols import (
    LENGTH,
    LOSS,
    NUMBER,
    SECONDS,
    SLOPE,
    STEP_SIZE,
    Dimension,
    symbol_table,
)
from elastic_consistency.execution.quantities import Quantity


class DimensionError(ValueError):
    """An expression adds quantities of different units, or has the wrong one."""


def dimension_of_quantity(quantity: Quantity) -> Dimension:
    """Return the unit of what a bound bounds."""
    square = sp.Integer(2)
    units = {
        Quantity.GAP: SLOPE,
        Quantity.MEAN_SQUARED_GRADIENT: SLOPE.power(square),
        Quantity.SQUARED_DISTANCE: LENGTH.power(square),
        Quantity.SUBOPTIMALITY: LOSS,
        Quantity.STEP_SIZE: STEP_SIZE,
        Quantity.TIME: SECONDS,
    }
    return units.get(quantity, NUMBER)


def dimension_of(expression: sp.Expr) -> Dimension:
    """Return the unit of an expression.

    Raises:
        DimensionError: If it adds or compares different units, or takes the exponential,
            logarithm, sine or a symbolic power of something that has a unit.
    """
    if expression.is_number:
        return NUMBER
    if isinstance(expression, sp.Symbol):
        return symbol_table()[expression.name].dimension
    if isinstance(expression, sp.Mul):
        total = NUMBER
        for factor in expression.args:
            total = total.times(dimension_of(factor))
        return total
    if isinstance(expression, sp.Pow):
        return _of_power(expression)
    parts = [dimension_of(part) for part in expression.args]
    if len(set(parts)) != 1:
        raise DimensionError(f"{expression} mixes {', '.join(sorted(p.text() for p in parts))}.")
    if not isinstance(expression, sp.Add | sp.Max | sp.Min) and parts[0] != NUMBER:
        raise DimensionError(f"{expression.func.__name__} needs a number, got {parts[0].text()}.")
    return parts[0]


def _of_power(power: sp.Pow) -> Dimension:
    base = dimension_of(power.base)
    if power.exp.is_number:
        return base.power(power.exp)
    if base != NUMBER or dimension_of(power.exp) != NUMBER:
        raise DimensionError(f"{power} needs numbers, got a base in {base.text()}.")
    return NUMBER


def check_dimensions(bound: Bound) -> None:
    """Check the units of a bound and of its assumptions.

    Raises:
        DimensionError: Naming the subexpression, or the bound whose unit is not its quantity's.
    """
    found = dimension_of(sp.sympify(bound.expression))
    expected = dimension_of_quantity(bound.quantity)
    if found != expected:
        raise DimensionError(
            f"{bound.name} must be in {expected.text()}, got {found.text()}: {bound.expression}."
        )
    for relation in bound.assumptions:
        if relation.lhs != 0 and relation.rhs != 0:
            dimension_of(relation.lhs - relation.rhs)
