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
        columns = (self._entries, entries), (self._worker, worker), (self._begin, begin)
        for column, values in columns:
            plain = np.ascontiguousarray(values, column.typecode)
            column.frombytes(plain.view(np.uint8).data)  # the bytes themselves, without a copy

    def message(self) -> int:
        """Number of a new message."""
        self.n_messages += 1
        return self.n_messages - 1

    def finish(self) -> Schedule:
        """The schedule; jobs and messages that were not dropped are declared in flight."""
        width = 2 + self._n_operands
        entries = np.frombuffer(self._entries, np.float64).reshape(-1, width)
        kinds = entries[:, 1].astype(np.int8)
        lengths = np.array([len(pattern) for pattern in self._patterns])[kinds]
        first = np.cumsum(lengths) - lengths
        table = _Table(int(lengths.sum()), self._metadata.hosts, self._worker, self.n_messages)
        for number, pattern in enumerate(self._patterns):
            chosen = np.flatnonzero(kinds == number)
            if len(chosen):
                part, places = _in_one_piece(entries, first, chosen, len(pattern))
                operands = part[:, 2:].astype(np.int64)
                for offset, row in enumerate(pattern):
                    table.write(row, _moved(places, offset), part[:, 0], operands)
        return self._schedule(table)

    def _schedule(self, table: "_Table") -> Schedule:
        n_jobs = len(self._worker)
        jobs = Jobs(
            np.array(self._worker, np.int32),
            np.full(n_jobs, ABSENT, np.int64),
            np.full(n_jobs, WHOLE_MODEL, np.int32),
            np.array(self._begin, np.float64),
            table.share,
        )
        messages = Messages(np.full(self.n_messages, self._moves), table.in_flight)
        return Schedule(table.rows(), jobs, messages, self._metadata)


_Places = slice | np.ndarray


def _in_one_piece(
    entries: np.ndarray, first: np.ndarray, chosen: np.ndarray, length: int
) -> tuple[np.ndarray, _Places]:
    """Chosen entries and the places of their first rows, without copies where they are a run."""
    begin, end = int(chosen[0]), int(chosen[-1]) + 1
    if end - begin == len(chosen):
        return entries[begin:end], slice(int(first[begin]), int(first[end - 1]) + 1, length)
    return entries[chosen], first[chosen]


def _moved(places: _Places, offset: int) -> _Places:
    if isinstance(places, slice):
        return slice(places.start + offset, places.stop + offset, places.step)
    return places + offset


@final
class _Table:
    """The columns, full of what most rows have, and what becomes of jobs and messages."""

    def __init__(self, n_rows: int, hosts: tuple[int, ...], worker: array, n_messages: int) -> None:
        # A last element for what is absent, whose number is -1.
        self._workers = np.append(np.array(worker, np.int32), np.int32(ABSENT))
        self._hosts = np.append(np.array(hosts, np.int32), np.int32(ABSENT))
        self._time, self._op = np.empty(n_rows), np.empty(n_rows, np.int8)
        self._worker = np.full(n_rows, ABSENT, np.int32)
        self._job = np.full(n_rows, ABSENT, np.int64)
        self._message = np.full(n_rows, ABSENT, np.int64)
        self._replica = np.full(n_rows, ABSENT, np.int32)
        self._weight, self._keep = np.zeros(n_rows), np.full(n_rows, _NO_KEEP)
        self.share = np.full(len(worker), np.nan)
        self.in_flight = np.ones(n_messages, bool)

    def write(self, row: RowPattern, at: _Places, time: np.ndarray, operands: np.ndarray) -> None:
        """One row of a pattern, for all of its entries."""
        self._time[at], self._op[at] = time, row.op
        job, message, replica = (
            operands[:, slot] if slot >= 0 else None for slot in (row.job, row.message, row.replica)
        )
        replica = row.fixed_replica if replica is None else replica
        for column, values in ((self._job, job), (self._message, message)):
            if values is not None:
                column[at] = values
        self._replica[at] = replica
        self._worker[at] = self._actors(row.op, job, replica)
        if row.weight != 0:
            self._weight[at] = row.weight
        if row.keep != _NO_KEEP:
            self._keep[at] = row.keep
        if row.op is Op.DROP:
            self._drop(job, message, row.share)

    def _actors(self, op: Op, job: np.ndarray | None, replica: np.ndarray | int) -> Any:
        if op in _OF_THE_JOB:
            return ABSENT if job is None else self._workers[job]
        if op is Op.PUT and job is not None:
            return np.where(job >= 0, self._workers[job], self._hosts[replica])
        return self._hosts[replica]

    def _drop(self, job: np.ndarray | None, message: np.ndarray | None, share: float) -> None:
        if job is not None:
            self.share[job[job >= 0]] = share
        if message is not None:
            self.in_flight[message[message >= 0]] = False

    def rows(self) -> Rows:
        """The columns as they are."""
        block = np.full(len(self._time), WHOLE_MODEL, np.int32)
        return Rows(self._time, self._op, self._worker, self._job, self._message, self._replica,
                    block, self._weight, self._keep)  # fmt: skip
