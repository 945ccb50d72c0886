"""When a worker waits, and for whom; when it is away, suspended or cut off."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule.ops import ABSENT, Op
from elastic_consistency.schedule.staleness import first_reads
from elastic_consistency.schedule.table import Schedule


@final
@dataclass(frozen=True, slots=True)
class IdleSpan:
    """A while in which a worker computes nothing, or not at full speed.

    Attributes:
        worker: Who.
        begin: s.
        end: s.
        why: In few words.
    """

    worker: int
    begin: float
    end: float
    why: str


def away_spans(schedule: Schedule) -> list[IdleSpan]:
    """From a crash, or from the beginning, until the worker is there; until the end if never."""
    rows, remarks = schedule.rows, schedule.metadata.annotations
    last = float(rows.time[-1]) if len(rows) else 0.0
    back = [(r.row, r.worker, r.time) for r in remarks if r.kind in ("join", "restart")]
    crashes = np.flatnonzero(rows.op == Op.CRASH).tolist()
    gone = [(row, int(rows.worker[row]), float(rows.time[row]), "crashed") for row in crashes]
    gone += [(-1, r.worker, 0.0, "not yet there") for r in remarks if r.kind == "late start"]
    return [
        IdleSpan(
            worker,
            begin,
            min((t for r, w, t in back if w == worker and r > row), default=last),
            why,
        )
        for row, worker, begin, why in gone
    ]


def suspended_spans(schedule: Schedule) -> list[IdleSpan]:
    """While somebody else has the processor."""
    return [
        IdleSpan(remark.worker, remark.time, float(remark.detail), "suspended")
        for remark in schedule.metadata.annotations
        if remark.kind == "suspended"
    ]


def cut_off_spans(schedule: Schedule) -> list[IdleSpan]:
    """While a partition lies between a worker and others."""
    found = []
    for remark in schedule.metadata.annotations:
        if remark.kind == "partition":
            begin, end, *workers = remark.detail.split()
            found += [IdleSpan(int(w), float(begin), float(end), "cut off") for w in workers]
    return found


def waiting_spans(schedule: Schedule) -> list[IdleSpan]:
    """From the end of each computation of a worker to its next READ, if the worker is there."""
    rows, jobs = schedule.rows, schedule.jobs
    reads, ends = first_reads(schedule), _ends_of_jobs(schedule)
    away: dict[int, list[IdleSpan]] = {}
    for span in away_spans(schedule):
        away.setdefault(span.worker, []).append(span)
    free = np.zeros(schedule.metadata.n_workers)
    sent = _sending(schedule)
    found = []
    for job in np.argsort(reads, kind="stable").tolist():
        if reads[job] >= len(rows):
            continue
        worker, read = int(jobs.worker[job]), float(rows.time[reads[job]])
        begin = max([free[worker], *(s.end for s in away.get(worker, ()) if s.end <= read)])
        if begin < read:
            found.append(IdleSpan(worker, begin, read, _whom(schedule, int(reads[job]), sent)))
        free[worker] = max(free[worker], ends[job] if np.isfinite(ends[job]) else read)
    return found


def _ends_of_jobs(schedule: Schedule) -> np.ndarray:
    """(J,) last ENCODE of each job or, if it has none, its DROP, s; NaN for neither."""
    rows, time = schedule.rows, np.full(len(schedule.jobs), np.nan)
    for op in (Op.DROP, Op.ENCODE):
        at = np.flatnonzero((rows.op == op) & (rows.job != ABSENT))
        time[rows.job[at]] = rows.time[at]
    return time


def _sending(schedule: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """Row number of the last ENCODE of each job and of the last PUT of each message, or -1."""
    rows = schedule.rows
    encode, put = np.flatnonzero(rows.op == Op.ENCODE), np.flatnonzero(rows.op == Op.PUT)
    of_jobs, of_messages = np.full(len(schedule.jobs), -1), np.full(len(schedule.messages), -1)
    of_jobs[rows.job[encode]] = encode
    of_messages[rows.message[put]] = put
    return of_jobs, of_messages


def _whom(schedule: Schedule, read: int, sent: tuple[np.ndarray, np.ndarray]) -> str:
    """For whom a worker has waited that reads now: whose was the last to be sent of what came."""
    rows = schedule.rows
    latest, row = -1, read - 1
    while row >= 0 and rows.time[row] == rows.time[read]:
        if rows.op[row] in (Op.ADD, Op.MIX) and rows.replica[row] == rows.replica[read]:
            job = rows.job[row] != ABSENT
            source = sent[0][rows.job[row]] if job else sent[1][rows.message[row]]
            latest = max(latest, int(source))
        row -= 1
    if latest < 0:
        return "wait"
    who = int(rows.worker[latest])
    if who == rows.worker[read]:
        return "wait for its own update"
    return f"wait for worker {who}" if who != ABSENT else "wait for the server"
