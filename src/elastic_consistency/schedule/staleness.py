"""Staleness in steps and jobs in flight, read off a schedule without executing it."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule.ops import ABSENT, Op
from elastic_consistency.schedule.table import Rows, Schedule

_NEVER = np.iinfo(np.int64).max


@final
@dataclass(frozen=True, slots=True, eq=False)
class Staleness:
    """One entry for each ADD row, in order.

    Attributes:
        row: (K,) int64, number of the row.
        job: (K,) int64, the job added, or the stalest contribution of the message added.
        replica: (K,) int32, recipient.
        steps: (K,) int64, version increments of the recipient between the job's first READ
            and this row.
    """

    row: np.ndarray
    job: np.ndarray
    replica: np.ndarray
    steps: np.ndarray


def first_reads(schedule: Schedule) -> np.ndarray:
    """(J,) int64 number of each job's first READ row; the largest int64 if it has none."""
    rows = np.flatnonzero(schedule.rows.op == Op.READ)
    first = np.full(len(schedule.jobs), _NEVER)
    # Written backwards, so that the earliest row is the one that stays.
    first[schedule.rows.job[rows[::-1]]] = rows[::-1]
    return first


def last_uses(schedule: Schedule) -> np.ndarray:
    """(J,) int64 number of the row from which each job counts as applied.

    That is its last ADD, or the last use of the message that carries it. The largest int64
    if the job is never used.
    """
    table = schedule.rows
    last = np.full(len(schedule.jobs), -1)
    added = np.flatnonzero((table.op == Op.ADD) & (table.job != ABSENT))
    np.maximum.at(last, table.job[added], added)
    end = np.full(len(schedule.messages), -1)
    used = np.flatnonzero(((table.op == Op.ADD) | (table.op == Op.MIX)) & (table.message != ABSENT))
    np.maximum.at(end, table.message[used], used)
    carried = np.flatnonzero((table.op == Op.PUT) & (table.job != ABSENT))
    np.maximum.at(last, table.job[carried], end[table.message[carried]])
    return np.where(last < 0, _NEVER, last)


def at_most_one_unapplied_job(schedule: Schedule) -> bool:
    """Whether every worker reads only after its previous job was applied."""
    read, used = first_reads(schedule), last_uses(schedule)
    worker = schedule.jobs.worker
    order = np.lexsort((read, worker))
    same = worker[order[1:]] == worker[order[:-1]]
    return bool((used[order[:-1]] < read[order[1:]])[same].all())


def measure_staleness(schedule: Schedule) -> Staleness:
    """The staleness of every ADD; a message is as stale as its stalest contribution."""
    table = schedule.rows
    rows = np.flatnonzero(table.op == Op.ADD)
    job = _stalest_job(schedule, rows)
    # A message that carries no job (a replica's model) is never stale.
    steps = np.zeros(len(rows), np.int64)
    known = job != ABSENT
    steps[known] = _increments(
        schedule,
        table.replica[rows[known]],
        table.block[rows[known]],
        first_reads(schedule)[job[known]],
        rows[known],
    )
    return Staleness(rows, job, table.replica[rows], steps)


def in_flight_at_reads(schedule: Schedule) -> np.ndarray:
    """(J,) int64: other jobs that were read and not yet applied at each job's first READ.

    Discarded jobs (share 0) never enter the auxiliary sequence and count nowhere; their own
    entries are 0. The largest entry is the constant c of the started order.
    """
    counted = schedule.jobs.share != 0
    reads = first_reads(schedule)
    count = _in_flight(schedule, reads)
    return np.where(counted, count, 0)


def in_flight_at_steps(schedule: Schedule) -> np.ndarray:
    """Other jobs in flight at each STEP row, in order; their sum is the sum of staleness."""
    return _in_flight(schedule, np.flatnonzero(schedule.rows.op == Op.STEP))


def _in_flight(schedule: Schedule, rows: np.ndarray) -> np.ndarray:
    counted = schedule.jobs.share != 0
    started = np.sort(first_reads(schedule)[counted])
    ended = np.sort(last_uses(schedule)[counted])
    return np.searchsorted(started, rows) - np.searchsorted(ended, rows)


def _stalest_job(schedule: Schedule, adds: np.ndarray) -> np.ndarray:
    table = schedule.rows
    first = first_reads(schedule)
    carried = np.flatnonzero((table.op == Op.PUT) & (table.job != ABSENT))
    # Among the jobs of a message the one that was read first is the stalest for everybody.
    order = carried[np.argsort(-first[table.job[carried]], kind="stable")]
    stalest = np.full(len(schedule.messages), ABSENT, np.int64)
    stalest[table.message[order]] = table.job[order]
    job = table.job[adds].copy()
    by_message = job == ABSENT
    job[by_message] = stalest[table.message[adds[by_message]]]
    return job


def _increments(
    schedule: Schedule,
    replica: np.ndarray,
    block: np.ndarray,
    after: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """Version increments of (replica, block) in rows after < row < before.

    Versions are counted by block; a use of the whole model is as stale as its stalest block.
    """
    table = schedule.rows
    increments = (table.op == Op.STEP) | (table.op == Op.MIX)
    whole = _count(table, increments & (table.block == ABSENT), replica, after, before)
    n_blocks = schedule.metadata.n_blocks
    if n_blocks == 1:
        return whole
    by_block = np.stack(
        [
            _count(table, increments & (table.block == b), replica, after, before)
            for b in range(n_blocks)
        ]
    )
    largest = by_block.max(axis=0)
    own = by_block[np.maximum(block, 0), np.arange(len(block))]
    return whole + np.where(block == ABSENT, largest, own)


def _count(
    table: Rows, chosen: np.ndarray, replica: np.ndarray, after: np.ndarray, before: np.ndarray
) -> np.ndarray:
    rows = np.flatnonzero(chosen)
    stride = len(table) + 1
    keys = np.sort(table.replica[rows].astype(np.int64) * stride + rows)
    base = replica.astype(np.int64) * stride
    last = np.searchsorted(keys, base + before)
    return last - np.searchsorted(keys, base + np.minimum(after, stride - 1))
