"""Invariants of replicas: no empty step, and no buffer left without its step."""

import numpy as np

from elastic_consistency.schedule.errors import ScheduleError, rows_of
from elastic_consistency.schedule.ops import ABSENT, Op
from elastic_consistency.schedule.table import Schedule


def check_replicas(schedule: Schedule) -> None:
    """Raise ScheduleError unless every STEP finds something and leaves nothing behind."""
    key, row = _touched_blocks(schedule)
    in_order = schedule.metadata.n_blocks == 1
    order = np.argsort(key, kind="stable") if in_order else np.lexsort((row, key))
    key, row = key[order], row[order]
    is_step = schedule.rows.op[row] == Op.STEP
    fresh = np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]
    filled = ~fresh & ~np.concatenate([[True], is_step[:-1]])[: len(key)]
    useful = np.zeros(len(schedule.rows), bool)
    useful[row[is_step & filled]] = True
    steps = np.flatnonzero(schedule.rows.op == Op.STEP)
    if not useful[steps].all():
        first = int(steps[np.argmin(useful[steps])])
        raise ScheduleError("empty step", "STEP needs an ADD before it", row=first)
    last = np.concatenate([key[1:] != key[:-1], [True]])[: len(key)]
    left = np.sort(row[last & ~is_step])
    if len(left):
        raise ScheduleError("no step", "ADD without a STEP after it", row=int(left[0]))


def _touched_blocks(schedule: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """(replica, block) key and row number of every block that an ADD or STEP touches."""
    table, blocks = schedule.rows, schedule.metadata.n_blocks
    rows = rows_of(table.op, Op.ADD, Op.STEP)
    if blocks == 1:
        return table.replica[rows], rows
    block = table.block[rows].astype(np.int64)
    whole = block == ABSENT
    every = np.tile(np.arange(blocks), int(whole.sum()))
    replica = table.replica[rows].astype(np.int64)
    key = np.concatenate(
        [
            replica[~whole] * blocks + block[~whole],
            np.repeat(replica[whole], blocks) * blocks + every,
        ]
    )
    return key, np.concatenate([rows[~whole], np.repeat(rows[whole], blocks)])
