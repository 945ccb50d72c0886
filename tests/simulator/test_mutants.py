"""A schedule with one row too many, too few or out of place is refused.

Times stay in place, so that it is not the order of times that gives a mutant away.
"""

from dataclasses import fields, replace

import numpy as np
import pytest

from elastic_consistency.schedule import Op, Rows, ScheduleError
from elastic_consistency.simulator import Cluster, Link, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer

PROTOCOLS = [AsynchronousServer(), AllReduce()]


def _with_order(rows, order):
    """The rows in another order, each at the time of the row whose place it takes."""
    time = rows.time[np.minimum(np.arange(len(order)), len(rows) - 1)]
    others = {c.name: getattr(rows, c.name)[order] for c in fields(Rows) if c.name != "time"}
    return Rows(time=time, **others)


def _mutants(rows, rng):
    every = np.arange(len(rows))
    for row in every:
        yield "delete", np.delete(every, row)
        yield "duplicate", np.insert(every, row, row)
        if row + 1 < len(every):
            yield "swap neighbours", np.r_[every[:row], row + 1, row, every[row + 2 :]]
        other = int(rng.integers(len(every)))
        swapped = every.copy()
        swapped[[row, other]] = other, row
        yield "swap", swapped


def _catcher(protocol, schedule):
    for name, test in (("check", schedule.check), ("restate", lambda: protocol.restate(schedule))):
        try:
            test()
        except ScheduleError:
            return name
    return "nobody"


def _same(a, b):
    columns = (c.name for c in fields(Rows))
    return len(a) == len(b) and all(np.array_equal(getattr(a, c), getattr(b, c)) for c in columns)


def _only_encodes_moved(rows, order):
    """Two workers' ENCODEs commute: no value changes, and other delays would give this order."""
    moved = np.flatnonzero(order != np.arange(len(rows))) if len(order) == len(rows) else [0]
    return bool((rows.op[moved] == Op.ENCODE).all())


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: type(p).__name__)
def test_every_mutant_that_changes_a_value_is_caught(protocol):
    cluster = Cluster.alike(3, Exponential(1.0), link=Link(0.05))
    schedule = simulate(protocol, cluster, until=Until(jobs=30), seed=4)
    rng = np.random.default_rng(7)

    missed, caught = [], 0
    for kind, order in _mutants(schedule.rows, rng):
        mutant = replace(schedule, rows=_with_order(schedule.rows, order))
        if _same(mutant.rows, schedule.rows) or _only_encodes_moved(schedule.rows, order):
            continue
        if _catcher(protocol, mutant) == "nobody":
            missed.append((kind, np.flatnonzero(order != np.arange(len(order)))[:2].tolist()))
        else:
            caught += 1

    assert missed == []
    assert caught > 3 * len(schedule.rows)
