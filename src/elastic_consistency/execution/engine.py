"""Engines: the ways to execute a schedule, all with the same bits."""

from enum import Enum
from typing import Any

import numpy as np

from elastic_consistency.execution.in_place_steps import sends_its_gradient
from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.program import Program
from elastic_consistency.execution.translation import can_translate, translate
from elastic_consistency.optimization.compression import AbstractCodec, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Op, Schedule


class Engine(Enum):
    """How rows are executed.

    ROWS       one by one, by the Executor: any schedule, any array library; the specification
    PROGRAM    translated into a program first: NumPy, schedules without messages and blocks
    FASTEST    PROGRAM where it is possible, else ROWS
    """

    ROWS = "rows"
    PROGRAM = "program"
    FASTEST = "fastest"


def program_of(
    schedule: Schedule,
    oracle: AbstractOracle,
    rule: AbstractRule,
    codec: AbstractCodec | None,
    start: Any,
    watches: tuple[Watch, ...],
) -> Program | None:
    """The program of an execution, or None if only rows can express it."""
    moments = [watch.moment for watch in watches]
    singly = all(moments.count(moment) <= 1 for moment in (Moment.ADDED, Moment.STARTED))
    simple = type(start) is np.ndarray and isinstance(codec, Identity | None)
    if not (simple and singly and sends_its_gradient(rule)):
        return None
    if not can_translate(schedule):
        return None
    eager = bool(oracle.draws_per_job) or Moment.STARTED in moments or _adds_repeat(schedule)
    return translate(
        schedule,
        factors(schedule, rule),
        eager=eager,
        looks_at_adds=Moment.ADDED in moments,
    )


def factors(schedule: Schedule, rule: AbstractRule) -> np.ndarray:
    """(K,) weight times the rule's scale of each ADD row, in order."""
    weight = schedule.rows.weight[schedule.rows.op == Op.ADD]
    if type(rule).scale is AbstractRule.scale:
        return weight * 1.0
    steps, place = np.unique(schedule.staleness().steps, return_inverse=True)
    return weight * np.array([rule.scale(int(step)) for step in steps], np.float64)[place]


def _adds_repeat(schedule: Schedule) -> bool:
    added = schedule.rows.job[schedule.rows.op == Op.ADD]
    return bool((np.bincount(added, minlength=1) > 1).any())
