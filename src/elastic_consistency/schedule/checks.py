"""The invariants of a schedule, each with a name; O(rows), by columns instead of row by row."""

from dataclasses import fields
from functools import cache

import numpy as np

from elastic_consistency.schedule.errors import ScheduleError, nowhere, refuse, rows_of
from elastic_consistency.schedule.job_checks import check_jobs
from elastic_consistency.schedule.message_checks import check_messages
from elastic_consistency.schedule.ops import ABSENT, OPERANDS, Op
from elastic_consistency.schedule.replica_checks import check_replicas
from elastic_consistency.schedule.table import FORMAT_VERSION, Schedule

_EMPTY = {"weight": 0.0, "keep": -1.0}
_NAMES = ("worker", "job", "message", "replica", "block", "weight", "keep")


def check_schedule(schedule: Schedule) -> None:
    """Raise unless every invariant holds.

    Raises:
        ScheduleError: For the first broken rule, in the order: columns, ranges, time, operands,
            jobs, messages, replicas.
    """
    check_columns(schedule)
    check_ranges(schedule)
    check_time(schedule)
    check_operands(schedule)
    check_jobs(schedule)
    check_messages(schedule)
    check_replicas(schedule)


def check_columns(schedule: Schedule) -> None:
    """Columns of one table are equally long; the metadata make sense."""
    for table in (schedule.rows, schedule.jobs, schedule.messages):
        lengths = {column.name: len(getattr(table, column.name)) for column in fields(table)}
        if len(set(lengths.values())) > 1:
            raise ScheduleError("columns", f"columns must be equally long, got {lengths}")
    meta = schedule.metadata
    if meta.format_version != FORMAT_VERSION:
        raise ScheduleError(
            "version", f"format must be {FORMAT_VERSION}, got {meta.format_version}"
        )
    if meta.n_workers < 1 or any(not -1 <= host < meta.n_workers for host in meta.hosts):
        raise ScheduleError("hosts", f"hosts must be -1 or a worker, got {meta.hosts}")


def check_ranges(schedule: Schedule) -> None:
    """Every number in a column names something that exists."""
    meta, table, jobs = schedule.metadata, schedule.rows, schedule.jobs
    every = np.arange(len(table))
    refuse("op", (table.op < 0) | (table.op >= len(Op)), every, f"op must be 0 to {len(Op) - 1}")
    limits = {
        "worker": meta.n_workers,
        "job": len(jobs),
        "message": len(schedule.messages),
        "replica": len(meta.hosts),
        "block": meta.n_blocks,
    }
    for column, limit in limits.items():
        values = getattr(table, column)
        if len(values) and not (values.min() >= -1 and values.max() < limit):
            wrong = (values < -1) | (values >= limit)
            refuse("range", wrong, every, f"{column} must be -1 to {limit - 1}")
    strangers = (jobs.worker < 0) | (jobs.worker >= meta.n_workers)
    refuse("range", strangers, nowhere(len(jobs)), "every job needs a worker")
    wrong = (jobs.block < -1) | (jobs.block >= meta.n_blocks)
    refuse("range", wrong, nowhere(len(jobs)), "a job's block must exist")
    refuse("range", jobs.round < -1, nowhere(len(jobs)), "a job's round must be -1 or more")


def check_time(schedule: Schedule) -> None:
    """Times are finite, start at or after 0 and never decrease."""
    time = schedule.rows.time
    if not len(time) or ((time[1:] >= time[:-1]).all() and 0 <= time[0] and time[-1] < np.inf):
        return  # one look is enough: a NaN compares as false
    every = np.arange(len(time))
    refuse("time", ~np.isfinite(time), every, "time must be finite")
    refuse("time", time < 0, every, "time must be >= 0")
    earlier = np.concatenate([[False], time[1:] < time[:-1]])
    refuse("time", earlier, every, "time must not decrease")


def check_operands(schedule: Schedule) -> None:
    """Each operation has exactly its operands."""
    table = schedule.rows
    present = np.zeros(len(table), np.uint8)
    for bit, name in enumerate(_NAMES):
        filled = getattr(table, name) != _EMPTY.get(name, ABSENT)
        present |= filled.view(np.uint8) << np.uint8(bit)
    if not _lawful_operands()[table.op, present].all():
        for op in OPERANDS:
            _refuse_operands(schedule, op)
    check_weights(schedule)


def _refuse_operands(schedule: Schedule, op: Op) -> None:
    table, operands = schedule.rows, OPERANDS[op]
    rows = np.flatnonzero(table.op == op)
    present = {name: getattr(table, name)[rows] != _EMPTY.get(name, ABSENT) for name in _NAMES}
    for name in operands.required:
        refuse("operands", ~present[name], rows, f"{op.name} needs a {name}")
    if operands.one_of:
        a, b = operands.one_of
        both = present[a] == present[b]
        refuse("operands", both, rows, f"{op.name} needs either a {a} or a {b}")
    known = {*operands.required, *operands.one_of, *operands.allowed}
    for name in sorted(set(_NAMES) - known):
        refuse("operands", present[name], rows, f"{op.name} takes no {name}")


@cache
def _lawful_operands() -> np.ndarray:
    """(operations, 2**7) bool: may an operation have exactly these operands?"""
    lawful = np.zeros((len(Op), 2 ** len(_NAMES)), bool)
    for op, operands in OPERANDS.items():
        known = {*operands.required, *operands.one_of, *operands.allowed}
        for pattern in range(lawful.shape[1]):
            present = {name for bit, name in enumerate(_NAMES) if pattern >> bit & 1}
            enough = present >= set(operands.required) and present <= known
            one = not operands.one_of or len(present & set(operands.one_of)) == 1
            lawful[op, pattern] = enough and one
    return lawful


def check_weights(schedule: Schedule) -> None:
    """Weights are finite and not zero where they count; keep lies in [0, 1] where it counts."""
    table = schedule.rows
    rows = rows_of(table.op, Op.ADD, Op.PUT, Op.MIX)
    weight = table.weight[rows]
    bad = ~np.isfinite(weight) | (weight == 0)
    refuse("weight", bad, rows, "weight must be finite and not 0")
    rows = rows_of(table.op, Op.PUT, Op.MIX)
    op, keep = table.op[rows], table.keep[rows]
    keeps = (op == Op.MIX) | (keep != -1)
    refuse("keep", keeps & ~((keep >= 0) & (keep <= 1)), rows, "keep must be in [0, 1]")
    job_put = (op == Op.PUT) & (table.job[rows] != ABSENT) & (keep != -1)
    refuse("keep", job_put, rows, "PUT of a job keeps nothing")
    hosts = np.array(schedule.metadata.hosts, np.int32)
    rows = rows_of(table.op, Op.ADD, Op.STEP, Op.MIX, Op.PUT)
    acts = (table.op[rows] != Op.PUT) | (table.replica[rows] != ABSENT)
    wrong = acts & (hosts[table.replica[rows]] != table.worker[rows])
    refuse("host", wrong, rows, "the worker must be the host of the replica")
