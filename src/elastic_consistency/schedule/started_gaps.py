"""Exact started gaps of long schedules: influence without its matrix.

The difference between the started sequence and a replica has one coefficient a job: minus the
job's share from its READ on, plus the weights with which STEPs have applied it since. A job that
is applied as its share says has coefficient 0 again, so only what is in flight counts, and sums
over all jobs are running sums over rows. `influence` computes the same from the full matrix.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule.errors import ScheduleError
from elastic_consistency.schedule.ops import ABSENT, Op
from elastic_consistency.schedule.staleness import first_reads
from elastic_consistency.schedule.table import Schedule


@final
@dataclass(frozen=True, slots=True, eq=False)
class StartedGaps:
    """Gaps of every view to the started sequence, over step size; 0 for discarded jobs.

    Attributes:
        aligned: (J,) sum of |coefficients|: the gap when all gradients have norm 1 and agree.
        noise: (J,) root of the sum of squares: for independent noise of unit variance.
    """

    aligned: np.ndarray
    noise: np.ndarray


def started_gaps(schedule: Schedule) -> StartedGaps:
    """The gaps of every job's view; O(rows) time and memory.

    Raises:
        ScheduleError: If replicas are mixed, if there is more than one block, or if jobs are
            not numbered in the order of their reads; `influence` takes these.
    """
    reads = _checked_reads(schedule)
    share = np.nan_to_num(schedule.jobs.share)
    applied = _applications(schedule)
    replicas = schedule.rows.replica[reads]
    aligned, squares = np.zeros(len(reads)), np.zeros(len(reads))
    for replica in np.unique(replicas).tolist():
        row, job, weight = (column[applied.replica == replica] for column in applied.columns())
        before, after = _coefficients(row, job, weight, share)
        at = np.concatenate([reads, row])
        asked = np.flatnonzero(replicas == replica)
        for power, result in ((1, aligned), (2, squares)):
            change = np.concatenate(
                [np.abs(share) ** power, np.abs(after) ** power - np.abs(before) ** power]
            )
            result[asked] = _running_sum(at, change, reads[asked])
    discarded = schedule.jobs.share == 0
    aligned[discarded] = squares[discarded] = 0
    return StartedGaps(aligned, np.sqrt(squares))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Applications:
    """Jobs entering models: one entry for each job, replica and STEP that applies it."""

    replica: np.ndarray
    row: np.ndarray
    job: np.ndarray
    weight: np.ndarray

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.row, self.job, self.weight


def _checked_reads(schedule: Schedule) -> np.ndarray:
    table, reads = schedule.rows, first_reads(schedule)
    if (table.op == Op.MIX).any() or schedule.metadata.n_blocks > 1:
        raise ScheduleError("size", "started gaps need one block and no MIX; use influence()")
    in_order = len(reads) == np.count_nonzero(table.op == Op.READ) and (np.diff(reads) > 0).all()
    if not in_order:
        raise ScheduleError("size", "jobs must be read once, in their order; use influence()")
    return reads


def _applications(schedule: Schedule) -> _Applications:
    table = schedule.rows
    adds = np.flatnonzero(table.op == Op.ADD)
    direct = adds[table.job[adds] != ABSENT]
    carried, job, weight = _carried(schedule, adds[table.job[adds] == ABSENT])
    add = np.concatenate([direct, carried])
    row = _next_step(schedule, table.replica[add], add)
    job = np.concatenate([table.job[direct], job])
    weight = np.concatenate([table.weight[direct], weight])
    made = row < len(table)
    return _Applications(table.replica[add][made], row[made], job[made], weight[made])


def _carried(schedule: Schedule, adds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ADD row, job and weight of every job in the messages that are added."""
    table = schedule.rows
    puts = np.flatnonzero((table.op == Op.PUT) & (table.job != ABSENT))
    puts = puts[np.argsort(table.message[puts], kind="stable")]
    first = np.searchsorted(table.message[puts], table.message[adds])
    count = np.searchsorted(table.message[puts], table.message[adds], side="right") - first
    add = np.repeat(adds, count)
    within = np.arange(len(add)) - np.repeat(np.cumsum(count) - count, count)
    put = puts[np.repeat(first, count) + within]
    return add, table.job[put], table.weight[add] * table.weight[put]


def _next_step(schedule: Schedule, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Row of the replica's next STEP; the number of rows if there is none."""
    table = schedule.rows
    steps, stride = np.flatnonzero(table.op == Op.STEP), len(table) + 1
    keys = np.sort(table.replica[steps].astype(np.int64) * stride + steps)
    base = replica.astype(np.int64) * stride
    found = np.append(keys, np.iinfo(np.int64).max)[np.searchsorted(keys, base + row)] - base
    return np.minimum(found, len(table))


def _coefficients(
    row: np.ndarray, job: np.ndarray, weight: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficient of the job in (model - started point) before and after each application."""
    order = np.lexsort((row, job))
    same = job[order[1:]] == job[order[:-1]]
    after = weight.copy()
    pending = np.flatnonzero(same)
    previous = np.zeros(len(row))
    # Jobs are applied once, rarely twice or thrice: one pass for each further time.
    while len(pending):
        ready = pending[~np.isin(pending - 1, pending)]
        last, now = order[ready], order[ready + 1]
        previous[now] = after[last]
        after[now] = after[last] + weight[now]
        pending = np.setdiff1d(pending, ready, assume_unique=True)
    return previous - share[job], after - share[job]


def _running_sum(at: np.ndarray, change: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Sum of the changes at rows before each asked row."""
    order = np.argsort(at, kind="stable")
    # Extended precision, where there is one: a million changes leave no trace in the sum.
    total = np.concatenate([[0], np.cumsum(change[order].astype(np.longdouble))])
    found = total[np.searchsorted(at[order], asked)]
    return np.maximum(found, 0).astype(np.float64)
