"""The invariants of a schedule, each with a name; O(rows), by columns instead of row by row."""

from dataclasses import fields

import numpy as np

from elastic_consistency.schedule.errors import ScheduleError, nowhere, refuse
from elastic_consistency.schedule.job_checks import check_jobs
from elastic_consistency.schedule.message_checks import check_messages
from elastic_consistency.schedule.ops import ABSENT, OPERANDS, Op
from elastic_consistency.schedule.replica_checks import check_replicas
from elastic_consistency.schedule.table import FORMAT_VERSION, Schedule


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
        refuse(
            "range", (values < -1) | (values >= limit), every, f"{column} must be -1 to {limit - 1}"
        )
    strangers = (jobs.worker < 0) | (jobs.worker >= meta.n_workers)
    refuse("range", strangers, nowhere(len(jobs)), "every job needs a worker")
    wrong = (jobs.block < -1) | (jobs.block >= meta.n_blocks)
    refuse("range", wrong, nowhere(len(jobs)), "a job's block must exist")


def check_time(schedule: Schedule) -> None:
    """Times are finite, start at or after 0 and never decrease."""
    time = schedule.rows.time
    every = np.arange(len(time))
    refuse("time", ~np.isfinite(time), every, "time must be finite")
    refuse("time", time < 0, every, "time must be >= 0")
    earlier = np.concatenate([[False], time[1:] < time[:-1]])
    refuse("time", earlier, every, "time must not decrease")


def check_operands(schedule: Schedule) -> None:
    """Each operation has exactly its operands."""
    table = schedule.rows
    empty = {"weight": 0.0, "keep": -1.0}
    names = [column.name for column in fields(table) if column.name not in ("time", "op")]
    for op, operands in OPERANDS.items():
        rows = np.flatnonzero(table.op == op)
        present = {name: getattr(table, name)[rows] != empty.get(name, ABSENT) for name in names}
        for name in operands.required:
            refuse("operands", ~present[name], rows, f"{op.name} needs a {name}")
        if operands.one_of:
            a, b = operands.one_of
            both = present[a] == present[b]
            refuse("operands", both, rows, f"{op.name} needs either a {a} or a {b}")
        known = {*operands.required, *operands.one_of, *operands.allowed}
        for name in set(names) - known:
            refuse("operands", present[name], rows, f"{op.name} takes no {name}")
    check_weights(schedule)


def check_weights(schedule: Schedule) -> None:
    """Weights are finite and not zero where they count; keep lies in [0, 1] where it counts."""
    table = schedule.rows
    every = np.arange(len(table))
    weighs = np.isin(table.op, (Op.ADD, Op.PUT, Op.MIX))
    bad = weighs & (~np.isfinite(table.weight) | (table.weight == 0))
    refuse("weight", bad, every, "weight must be finite and not 0")
    keeps = (table.op == Op.MIX) | ((table.op == Op.PUT) & (table.keep != -1))
    refuse(
        "keep", keeps & ~((table.keep >= 0) & (table.keep <= 1)), every, "keep must be in [0, 1]"
    )
    job_put = (table.op == Op.PUT) & (table.job != ABSENT) & (table.keep != -1)
    refuse("keep", job_put, every, "PUT of a job keeps nothing")
    hosts = np.array(schedule.metadata.hosts, np.int32)
    acts = np.isin(table.op, (Op.ADD, Op.STEP, Op.MIX))
    acts |= (table.op == Op.PUT) & (table.replica != ABSENT)
    wrong = np.zeros(len(table), bool)
    wrong[acts] = hosts[table.replica[acts]] != table.worker[acts]
    refuse("host", wrong, every, "the worker must be the host of the replica")
