"""What is true of the rounds of an all-reduce whose members change."""

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.protocols.fault_restatement import lost_in_crash
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
)

_OPS = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.PUT, Op.ADD, Op.STEP, Op.MIX, Op.DROP, Op.CRASH)


def require_elastic_rounds(schedule: Schedule, rule: str) -> None:
    """Each round averages its c members equally; who reads has the present model."""
    rows, jobs = schedule.rows, schedule.jobs
    require_only(schedule, _OPS, rule)
    require_steps_after_adds(schedule, rule)
    _require_equal_weights(schedule, rule)
    present, stepped = set(range(schedule.metadata.n_workers)), -1
    donors: dict[int, bool] = {}
    for row in range(len(rows)):
        op, replica = rows.op[row], int(rows.replica[row])
        if op == Op.READ:
            refuse_unless(replica == rows.worker[row], rule, "a worker reads its own", row=row)
            refuse_unless(replica in present, rule, "who reads has the present model", row=row)
        elif op == Op.ADD:
            round = _round_of(schedule, int(rows.message[row]))
            present = present if round == stepped else set()
            stepped = round
            present.add(replica)
        elif op == Op.PUT and rows.job[row] < 0:
            donors[int(rows.message[row])] = replica in present
            refuse_unless(rows.weight[row] == 1, rule, "a copy is whole", row=row)
        elif op == Op.MIX:
            fresh = donors[int(rows.message[row])] and rows.keep[row] == 0
            refuse_unless(fresh, rule, "a newcomer gets the present model", row=row)
            present.add(replica)
        elif op == Op.CRASH and stepped >= 0:
            present.discard(int(rows.worker[row]))
    share = jobs.share[~np.isnan(jobs.share)]
    refuse_unless(bool((share >= 0).all()), rule, "a share is 1/c, or 0 if lost")


def _round_of(schedule: Schedule, message: int) -> int:
    rows = schedule.rows
    put = np.flatnonzero((rows.op == Op.PUT) & (rows.message == message))
    return int(schedule.jobs.round[rows.job[put[0]]])


def _require_equal_weights(schedule: Schedule, rule: str) -> None:
    """A message holds the updates of one round, each with 1/c, and steps those who made it."""
    rows, jobs = schedule.rows, schedule.jobs
    put = np.flatnonzero((rows.op == Op.PUT) & (rows.job >= 0))
    count = np.bincount(rows.message[put], minlength=len(schedule.messages))
    expected = 1 / count[rows.message[put]]
    require_everywhere(rows.weight[put] == expected, put, rule, "a contribution weighs 1/c")
    require_everywhere(jobs.share[rows.job[put]] == expected, put, rule, "a share is 1/c")
    add = np.flatnonzero(rows.op == Op.ADD)
    require_everywhere(rows.weight[add] == 1, add, rule, "a message weighs 1")
    made = set(zip(rows.message[put].tolist(), jobs.worker[rows.job[put]].tolist(), strict=True))
    used = set(zip(rows.message[add].tolist(), rows.replica[add].tolist(), strict=True))
    refuse_unless(made == used, rule, "those who contribute step, and nobody else")
    rounds = np.full(len(schedule.messages), -1)
    rounds[rows.message[put]] = jobs.round[rows.job[put]]
    same = rounds[rows.message[put]] == jobs.round[rows.job[put]]
    require_everywhere(same, put, rule, "a message is of one round")
    lost = np.flatnonzero(jobs.share == 0)
    died = lost_in_crash(schedule)[lost]
    refuse_unless(bool(died.all()), rule, "a job is lost only in a crash")
