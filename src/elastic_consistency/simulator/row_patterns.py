"""Row patterns: groups of rows that always come together, logged as one short entry.

A protocol that writes the same few rows at every event logs the number of the pattern and its
operands; the rows are made afterwards, by whole columns. The result is the schedule that a
Recorder would have written row by row.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency.schedule import (
    ABSENT,
    WHOLE_MODEL,
    Jobs,
    Messages,
    Metadata,
    Op,
    Rows,
    Schedule,
)

_NO_OPERAND = -1
_NO_KEEP = -1.0
_OF_THE_JOB = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.DROP)


@final
@dataclass(frozen=True, slots=True)
class RowPattern:
    """One row of a pattern; numbers are fixed, operands are filled in by each entry.

    Attributes:
        op: The operation.
        job: Which operand of the entry is the job, or -1 for none.
        message: Which operand is the message, or -1 for none.
        replica: Which operand is the replica, or -1 for `fixed_replica`.
        fixed_replica: The replica when it is the same in every entry, or -1 for none.
        weight: Weight of the row.
        keep: Keep of the row.
        share: Share of the job, when the row drops one.
    """

    op: Op
    job: int = _NO_OPERAND
    message: int = _NO_OPERAND
    replica: int = _NO_OPERAND
    fixed_replica: int = ABSENT
    weight: float = 0.0
    keep: float = _NO_KEEP
    share: float = 0.0


@final
class PatternLog:
    """Collects entries and makes a schedule of them.

    Args:
        patterns: The patterns; an entry names one by its position here.
        n_operands: Operands of each entry.
        metadata: Metadata of the schedule.
        moves: Whether the messages move mass; one answer for all of them.
    """

    __slots__ = ("_begin", "_entries", "_metadata", "_moves", "_n_operands", "_patterns",
                 "_worker", "n_messages", "note")  # fmt: skip

    def __init__(
        self,
        patterns: tuple[tuple[RowPattern, ...], ...],
        *,
        n_operands: int,
        metadata: Metadata,
        moves: bool = False,
    ) -> None:
        self._patterns = patterns
        self._n_operands = n_operands
        self._metadata = metadata
        self._moves = moves
        self._entries = array("d")
        self._worker = array("i")
        self._begin = array("d")
        self.n_messages = 0
        #: note((time, pattern, *operands)) appends one entry; the bare method, for speed.
        self.note: Callable[[tuple[float, ...]], None] = self._entries.extend

    @property
    def n_jobs(self) -> int:
        """Jobs created so far."""
        return len(self._worker)

    def job(self, worker: int, begin: float) -> int:
        """Number of a new job of `worker`, which begins to compute it at `begin`, s."""
        self._worker.append(worker)
        self._begin.append(begin)
        return len(self._worker) - 1

    def note_all(self, entries: np.ndarray, worker: np.ndarray, begin: np.ndarray) -> None:
        """Many entries at a time, and the jobs that begin in them.

        Args:
            entries: (K, 2 + n_operands) float64: time, s, pattern, operands.
            worker: (J,) who computes each new job.
            begin: (J,) when it begins, s.
        """
        self._entries.frombytes(np.ascontiguousarray(entries, np.float64).tobytes())
        self._worker.frombytes(worker.astype(np.int32).tobytes())
        self._begin.frombytes(begin.astype(np.float64).tobytes())

    def message(self) -> int:
        """Number of a new message."""
        self.n_messages += 1
        return self.n_messages - 1

    def finish(self) -> Schedule:
        """The schedule; jobs and messages that were not dropped are declared in flight."""
        width = 2 + self._n_operands
        entries = np.frombuffer(self._entries, np.float64).reshape(-1, width)
        flat = [row for pattern in self._patterns for row in pattern]
        entry, row = _row_numbers(entries[:, 1].astype(np.int64), self._patterns)
        operands = entries[:, 2:].astype(np.int64)

        def filled(name: str, fixed: np.ndarray | int = ABSENT) -> np.ndarray:
            slot = _column(flat, name, np.int64)[row]
            return np.where(slot >= 0, operands[entry, np.maximum(slot, 0)], fixed)

        job, message = filled("job"), filled("message")
        replica = filled("replica", _column(flat, "fixed_replica", np.int64)[row])
        op = _column(flat, "op", np.int8)[row]
        rows = Rows(
            entries[entry, 0],
            op,
            self._actors(op, job, replica),
            job,
            message,
            replica.astype(np.int32),
            np.full(len(row), WHOLE_MODEL, np.int32),
            _column(flat, "weight", np.float64)[row],
            _column(flat, "keep", np.float64)[row],
        )
        return self._schedule(rows, _column(flat, "share", np.float64)[row])

    def _actors(self, op: np.ndarray, job: np.ndarray, replica: np.ndarray) -> np.ndarray:
        workers = np.append(np.array(self._worker, np.int32), ABSENT)
        hosts = np.append(np.array(self._metadata.hosts, np.int32), ABSENT)
        by_job = np.isin(op, _OF_THE_JOB) | ((op == Op.PUT) & (job >= 0))
        return np.where(by_job, workers[job], hosts[replica]).astype(np.int32)

    def _schedule(self, rows: Rows, shares: np.ndarray) -> Schedule:
        n_jobs = len(self._worker)
        share = np.full(n_jobs, np.nan)
        dropped = (rows.op == Op.DROP) & (rows.job >= 0)
        share[rows.job[dropped]] = shares[dropped]
        in_flight = np.ones(self.n_messages, bool)
        in_flight[rows.message[(rows.op == Op.DROP) & (rows.message >= 0)]] = False
        jobs = Jobs(
            np.array(self._worker, np.int32),
            np.full(n_jobs, ABSENT, np.int64),
            np.full(n_jobs, WHOLE_MODEL, np.int32),
            np.array(self._begin, np.float64),
            share,
        )
        messages = Messages(np.full(self.n_messages, self._moves), in_flight)
        return Schedule(rows, jobs, messages, self._metadata)


def _column(flat: list[RowPattern], name: str, dtype: Any) -> np.ndarray:
    return np.array([getattr(row, name) for row in flat], dtype)


def _row_numbers(
    kinds: np.ndarray, patterns: tuple[tuple[RowPattern, ...], ...]
) -> tuple[np.ndarray, np.ndarray]:
    """For each row of the schedule, its entry and its place among all rows of all patterns."""
    lengths = np.array([len(pattern) for pattern in patterns])
    starts = np.cumsum(lengths) - lengths
    n_rows = lengths[kinds]
    entry = np.repeat(np.arange(len(kinds)), n_rows)
    first = np.cumsum(n_rows) - n_rows
    return entry, starts[kinds][entry] + np.arange(n_rows.sum()) - first[entry]
