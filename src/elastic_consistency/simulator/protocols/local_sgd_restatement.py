"""What is true of the averages of local SGD when its members change."""

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
)


def require_averages(schedule: Schedule, steps: int, found: np.ndarray, rule: str) -> None:
    """Each window ends with the mean of its c members, and who reads is one of the present ones.

    Args:
        schedule: The schedule.
        steps: Steps in a window.
        found: (J, 5) row numbers of READ, GRADIENT, ENCODE, ADD, DROP of each job.
        rule: Short name of the rule.
    """
    rows, jobs = schedule.rows, schedule.jobs
    put = np.flatnonzero(rows.op == Op.PUT)
    members = np.bincount(rows.message[put], minlength=len(schedule.messages))
    whole = rows.weight[put] == 1 / members[rows.message[put]]
    require_everywhere(whole, put, rule, "each replica weighs 1/c")
    mix = np.flatnonzero(rows.op == Op.MIX)
    require_everywhere(rows.keep[mix] == 0, mix, rule, "an average replaces a replica")
    donor = np.full(len(schedule.messages), -1)
    donor[rows.message[put]] = rows.replica[put]
    present, window, averaged = set(range(schedule.metadata.n_workers)), -1, {}
    for row in range(len(rows)):
        op, replica, message = rows.op[row], int(rows.replica[row]), int(rows.message[row])
        if op == Op.READ:
            number = int(jobs.round[rows.job[row]]) // steps
            refuse_unless(replica in present, rule, "who reads has the present model", row=row)
            refuse_unless(number >= window, rule, "windows follow each other", row=row)
            window = number
        elif op == Op.MIX and _is_average(schedule, message, replica):
            if message not in averaged:
                averaged[message], present = window, set()
            present.add(replica)
        elif op == Op.MIX:
            copied = int(donor[message]) in present
            refuse_unless(copied, rule, "a newcomer gets the present model", row=row)
            present.add(replica)
        elif op == Op.CRASH and window >= 0:
            present.discard(int(rows.worker[row]))
    _require_members(schedule, steps, found, averaged, members, rule)


def _is_average(schedule: Schedule, message: int, replica: int) -> bool:
    rows = schedule.rows
    put = (rows.op == Op.PUT) & (rows.message == message)
    return bool((rows.replica[put] == replica).any())


def _require_members(
    schedule: Schedule,
    steps: int,
    found: np.ndarray,
    averaged: dict[int, int],
    members: np.ndarray,
    rule: str,
) -> None:
    """Who has taken all steps of a window is in its average, and nobody else; shares are 1/c."""
    rows, jobs = schedule.rows, schedule.jobs
    for message, window in averaged.items():
        rounds = (jobs.round // steps == window) & (jobs.share > 0)
        put = np.flatnonzero((rows.op == Op.PUT) & (rows.message == message))
        mix = np.flatnonzero((rows.op == Op.MIX) & (rows.message == message))
        same = sorted(rows.replica[put].tolist()) == sorted(rows.replica[mix].tolist())
        refuse_unless(same, rule, "an average reaches those who made it", row=int(put[0]))
        counts = np.bincount(jobs.worker[rounds], minlength=schedule.metadata.n_workers)
        took = np.flatnonzero(counts == steps).tolist() == sorted(rows.replica[put].tolist())
        full = set(counts.tolist()) <= {0, steps}
        refuse_unless(took and full, rule, f"a member takes {steps} steps", row=int(put[0]))
        share = jobs.share[rounds] == 1 / members[message]
        require_everywhere(share, found[rounds, 4], rule, "a share is 1/c")
        before = (found[rounds, 3] < put[0]) & (found[rounds, 0] >= 0)
        require_everywhere(before, found[rounds, 3], rule, "then all average at once")
