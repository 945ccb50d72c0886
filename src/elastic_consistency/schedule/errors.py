"""What is wrong with a schedule, and at which row."""

from typing import final

import numpy as np

_LARGEST_OP = 127  # of an int8


@final
class ScheduleError(ValueError):
    """A schedule breaks one of its invariants.

    Attributes:
        rule: Short name of the broken rule, for programs and for reports.
        row: Number of the first offending row, -1 when no single row is to blame.
    """

    def __init__(self, rule: str, message: str, *, row: int = -1) -> None:
        where = f" at row {row}" if row >= 0 else ""
        super().__init__(f"Schedule breaks the rule '{rule}'{where}: {message}")
        self.rule = rule
        self.row = row


def refuse(rule: str, bad: np.ndarray, rows: np.ndarray, message: str) -> None:
    """Raise ScheduleError at the first true entry of `bad`.

    Args:
        rule: Short name of the rule.
        bad: (K,) bool.
        rows: (K,) row number of each entry, -1 where no single row is to blame.
        message: What must be true.
    """
    if bad.any():
        raise ScheduleError(rule, message, row=int(rows[np.argmax(bad)]))


def nowhere(count: int) -> np.ndarray:
    """(count,) row numbers of entries for which no single row is to blame."""
    return np.broadcast_to(np.int64(-1), count)


def repeated(keys: np.ndarray) -> np.ndarray:
    """(K,) bool, true at every entry that stood earlier in `keys` already."""
    order = np.argsort(keys, kind="stable")
    same = np.zeros(len(keys), bool)
    same[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return same


def rows_of(op: np.ndarray, *chosen: int) -> np.ndarray:
    """(K,) numbers of the rows whose operation is one of `chosen`."""
    wanted = np.zeros(_LARGEST_OP + 1, bool)
    wanted[list(chosen)] = True
    return np.flatnonzero(wanted[op])
