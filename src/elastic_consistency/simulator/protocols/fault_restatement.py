"""What protocols state about their schedules when workers come and go."""

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
    rows_of_jobs,
)


def has_faults(schedule: Schedule) -> bool:
    """Whether workers may come and go, even if none has done so."""
    told = any(remark.kind == "faults" for remark in schedule.metadata.annotations)
    return told or bool((schedule.rows.op == Op.CRASH).any())


def lost_in_crash(schedule: Schedule) -> np.ndarray:
    """(J,) bool: jobs that were dropped without a share as their worker crashed."""
    rows, jobs = schedule.rows, schedule.jobs
    found = np.zeros(len(jobs), bool)
    for crash in np.flatnonzero(rows.op == Op.CRASH):
        row = crash - 1
        while row >= 0 and rows.op[row] == Op.DROP and rows.time[row] == rows.time[crash]:
            job = rows.job[row]
            if job >= 0:
                found[job] = jobs.worker[job] == rows.worker[crash] and jobs.share[job] == 0
            row -= 1
    return found


def require_lives(schedule: Schedule, life: tuple[Op, ...], rule: str) -> np.ndarray:
    """Jobs live so, or are lost in a crash; whoever is not there does nothing at all.

    Returns:
        (J, len(life)) row numbers, -1 where a job in flight or a lost one has no such row.
    """
    if not has_faults(schedule):
        return rows_of_jobs(schedule, life, rule)
    lost = lost_in_crash(schedule)
    found = rows_of_jobs(schedule, life, rule, lost=lost)
    refuse_unless(not (schedule.jobs.share[~lost] == 0).any(), rule, "only a crash loses a job")
    require_silence(schedule, rule)
    return found


def require_silence(schedule: Schedule, rule: str) -> None:
    """Who is not there does nothing; it may be that something of it ends."""
    rows = schedule.rows
    acts = rows.op != Op.DROP
    for worker, first, last in absences(schedule):
        row = first + np.flatnonzero((rows.worker[first:last] == worker) & acts[first:last])
        silent = np.zeros(len(row), bool)
        require_everywhere(silent, row, rule, f"worker {worker} is not there")


def absences(schedule: Schedule) -> list[tuple[int, int, int]]:
    """Who is not there, from which row on, and up to which row, excluded."""
    rows, remarks = schedule.rows, schedule.metadata.annotations
    back = [(r.row, r.worker) for r in remarks if r.kind in ("join", "restart")]
    crashes = np.flatnonzero(rows.op == Op.CRASH).tolist()
    gone = [(row + 1, int(rows.worker[row])) for row in crashes]
    gone += [(0, r.worker) for r in remarks if r.kind == "late start"]
    return [
        (worker, row, min((b for b, w in back if w == worker and b >= row), default=len(rows)))
        for row, worker in gone
    ]


def require_whole_or_lost(schedule: Schedule, rule: str) -> None:
    """Updates are applied alone and whole, or lost whole in a crash."""
    rows, jobs = schedule.rows, schedule.jobs
    require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.CRASH), rule)
    add, drop = np.flatnonzero(rows.op == Op.ADD), np.flatnonzero(rows.op == Op.DROP)
    require_steps_after_adds(schedule, rule)
    require_everywhere(rows.weight[add] == 1, add, rule, "the weight of an update is 1")
    applied = np.isin(drop, add + 2) & (rows.job[drop] == rows.job[drop - 2])
    fits = jobs.share[rows.job[drop]] == np.where(applied, 1.0, 0.0)
    require_everywhere(fits, drop, rule, "a share is 1 if applied, 0 if lost")
    refuse_unless(int(applied.sum()) == len(add), rule, "what is applied is dropped at once")
    died = lost_in_crash(schedule)[rows.job[drop]]
    require_everywhere(applied | died, drop, rule, "a job is lost only in a crash")
