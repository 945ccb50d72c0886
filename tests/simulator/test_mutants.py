"""A schedule with one row too many, too few or out of place is refused.

Times stay in place, so that it is not the order of times that gives a mutant away.
"""

from collections import Counter
from dataclasses import fields, replace

import numpy as np

from elastic_consistency.schedule import Op, Rows, ScheduleError
from elastic_consistency.schedule.influence import compute_influence
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    LateStart,
    Link,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Exponential


def _with_order(rows, order):
    """The rows in another order, each at the time of the row whose place it takes."""
    time = rows.time[np.minimum(np.arange(len(order)), len(rows) - 1)]
    others = {c.name: getattr(rows, c.name)[order] for c in fields(Rows) if c.name != "time"}
    return Rows(time=time, **others)


def _mutants(rows, rng):
    every = np.arange(len(rows))
    for row in every[int(rng.integers(3)) :: 3]:
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


def _values(schedule):
    """What a schedule computes: views and end for every additive rule, and steps a replica."""
    influence = compute_influence(schedule)
    steps = np.bincount(schedule.rows.replica[schedule.rows.op == Op.STEP], minlength=9)
    return influence.views, influence.final, steps


def test_mutants_that_change_a_value_are_caught(protocol):
    """At least 95 % of them; those that are missed are named by kind.

    Exempt are mutants with the same views, the same end and the same numbers of steps, such as
    two DROPs that change places or two contributions to one buffer.
    """
    cluster = Cluster.alike(4, Exponential(1.0), link=Link(0.05))
    _require_caught(protocol, simulate(protocol, cluster, until=Until(jobs=20), seed=4))


def test_mutants_of_schedules_with_faults_are_caught(mortal):
    faults = FaultScript((Crash(1, 1.5, 1.5), LateStart(2, 0.75), Crash(3, 3.0, 2.0)))
    cluster = replace(Cluster.alike(4, Exponential(1.0), link=Link(0.05)), faults=faults)

    _require_caught(mortal, simulate(mortal, cluster, until=Until(jobs=24), seed=4))


def _require_caught(protocol, schedule):
    values = _values(schedule)
    rng = np.random.default_rng(7)

    missed, caught = [], 0
    for kind, order in _mutants(schedule.rows, rng):
        mutant = replace(schedule, rows=_with_order(schedule.rows, order))
        if _catcher(protocol, mutant) != "nobody":
            caught += 1
        elif any(not np.allclose(a, b) for a, b in zip(_values(mutant), values, strict=True)):
            n = min(len(order), len(schedule.rows))
            moved = np.flatnonzero(order[:n] != np.arange(n))[:2]
            missed.append((kind, *(Op(op).name for op in schedule.rows.op[moved])))

    assert caught > len(schedule.rows) / 2
    assert len(missed) <= 0.05 * (len(missed) + caught), Counter(missed)
