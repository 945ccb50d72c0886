"""The weight of each gradient in the auxiliary sequence, read off the schedule."""

import numpy as np

from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.schedule import ABSENT, Op, Schedule


def auxiliary_weights(schedule: Schedule, rule: AbstractRule) -> np.ndarray:
    """(J,) weight w_j = step size * share * scale of each job.

    A rule whose step size varies gives a job the step size of the STEP that uses it first, and
    a message the scale of its stalest job.
    """
    weights = rule.auxiliary_step_size * np.nan_to_num(schedule.jobs.share)
    if rule.constant_step:
        return weights
    rows = schedule.rows
    stale = schedule.staleness()
    factor = _of_each(stale.steps, rule.scale)
    factor = factor * _of_each(_steps_before(schedule, stale.row, stale.replica), rule.step_factor)
    factors = np.ones(len(weights))
    of_message = np.ones(len(schedule.messages))
    # Written backwards, so that the first use is the one that stays.
    message, job = rows.message[stale.row][::-1], rows.job[stale.row][::-1]
    of_message[message[job == ABSENT]] = factor[::-1][job == ABSENT]
    factors[job[job != ABSENT]] = factor[::-1][job != ABSENT]
    carried = np.flatnonzero((rows.op == Op.PUT) & (rows.job != ABSENT))
    factors[rows.job[carried]] = of_message[rows.message[carried]]
    return weights * factors


def _of_each(numbers: np.ndarray, function) -> np.ndarray:
    """`function` of every number, called once for each different one."""
    different, position = np.unique(numbers, return_inverse=True)
    return np.array([function(int(number)) for number in different], np.float64)[position]


def _steps_before(schedule: Schedule, rows: np.ndarray, replicas: np.ndarray) -> np.ndarray:
    """(K,) STEP rows of each replica before each row."""
    before = np.zeros(len(rows), np.int64)
    steps = schedule.rows.op == Op.STEP
    for replica in np.unique(replicas):
        of_replica = np.flatnonzero(steps & (schedule.rows.replica == replica))
        chosen = replicas == replica
        before[chosen] = np.searchsorted(of_replica, rows[chosen])
    return before
