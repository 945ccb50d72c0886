"""The catalogue of bounds: one explicit import line for each file of theorems."""

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.heavy_ball import heavy_ball_gap
from elastic_consistency.bounds.nonconvex_single_step import nonconvex_single_step
from elastic_consistency.bounds.server import (
    server_applied_gap,
    server_in_flight_gap,
    server_started_gap,
)
from elastic_consistency.bounds.strongly_convex_single_step import strongly_convex_single_step

_BOUNDS = (
    server_applied_gap,
    server_started_gap,
    server_in_flight_gap,
    heavy_ball_gap,
    nonconvex_single_step,
    strongly_convex_single_step,
)


def list_bounds() -> tuple[Bound, ...]:
    """Return every bound of the catalogue."""
    return _BOUNDS


def get(name: str) -> Bound:
    """Return the bound called `name`.

    Raises:
        KeyError: If there is none; the message lists the names.
    """
    by_name = {bound.name: bound for bound in _BOUNDS}
    if name not in by_name:
        raise KeyError(f"get: name must be one of {', '.join(sorted(by_name))}, got {name!r}.")
    return by_name[name]
