"""Systems in other units of length and loss: a bound with a moved exponent is not homogeneous.

If a system reaches a share r of a bound, it reaches the same share in any units. A mutant that is
not homogeneous is off by a power of the unit, which for some unit is below r.
"""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, admits, number_at
from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.proofs.dimension import dimension_of_quantity
from elastic_consistency.bounds.symbols import Dimension, symbol_table

_UNITS = ((1e12, 1.0), (1e-12, 1.0), (1.0, 1e12), (1.0, 1e-12))


def rescaled(bound: Bound, systems: list[System]) -> list[System]:
    """Return the systems that come nearest to each part of a bound, in four other units.

    Args:
        bound: The bound.
        systems: Systems for it; those that lack something are left out.
    """
    nearest = _nearest(bound, systems)
    return [_in_units(bound, system, *units) for system in nearest for units in _UNITS]


def _nearest(bound: Bound, systems: list[System]) -> list[System]:
    """Return the system of the largest share for each set of sources of error that are present."""
    best: dict[frozenset[str], tuple[float, System]] = {}
    for system in systems:
        if system.lacks or system.measured <= 0 or not admits(bound, system.values):
            continue
        share = system.measured / number_at(sp.sympify(bound.expression), system.values)
        absent = frozenset(name for name, value in system.values.items() if value == 0)
        if absent not in best or share > best[absent][0]:
            best[absent] = share, system
    return [system for _, system in best.values()]


def _in_units(bound: Bound, system: System, length: float, loss: float) -> System:
    table = symbol_table()
    values = {
        name: value * _factor(table[name].dimension, length, loss)
        for name, value in system.values.items()
        if name in table
    }
    measured = system.measured * _factor(dimension_of_quantity(bound.quantity), length, loss)
    return System(f"{system.description}, in other units", values, measured)


def _factor(dimension: Dimension, length: float, loss: float) -> float:
    return float(length ** float(dimension.length) * loss ** float(dimension.loss))
