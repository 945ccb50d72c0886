"""The recorder: what a protocol calls to write a schedule, one method an operation."""

from array import array
from collections.abc import Callable
from dataclasses import fields
from typing import Any, final

import numpy as np

from elastic_consistency.schedule.ops import ABSENT, WHOLE_MODEL, Op
from elastic_consistency.schedule.table import (
    Annotation,
    Decision,
    Jobs,
    Messages,
    Metadata,
    Rows,
    Schedule,
)

_DTYPES = {
    "time": np.float64,
    "op": np.int8,
    "worker": np.int32,
    "job": np.int64,
    "message": np.int64,
    "replica": np.int32,
    "block": np.int32,
    "weight": np.float64,
    "keep": np.float64,
}
_NO_KEEP = -1.0
_NO_WEIGHT = 0.0
_IN_FLIGHT = float("nan")


@final
class Recorder:
    """Collects rows in the order of the calls and stamps them with the clock.

    Args:
        clock: Returns the present time, s.
        n_workers: Number of workers.
        hosts: Host of each replica: a worker, or -1 for the server.
        block_sizes: Parameters in each block; () for one block of any size.
        seed: Seed of the timing.
        provenance: Names and parameters, for people.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        n_workers: int,
        hosts: tuple[int, ...],
        block_sizes: tuple[int, ...] = (),
        seed: int = 0,
        provenance: dict[str, Any] | None = None,
    ) -> None:
        self._clock = clock
        self._context = (n_workers, tuple(hosts), tuple(block_sizes), seed, provenance or {})
        # One flat array of float64 holds every column: ids stay exact below 2**53, and a
        # single extend() a row costs a third of nine append() calls.
        self._rows = array("d")
        self._worker = array("i")
        self._round = array("q")
        self._block = array("i")
        self._begin = array("d")
        self._share = array("d")
        self._moves = array("b")
        self._open = array("b")
        self._decisions: list[Decision] = []
        self._annotations: list[Annotation] = []

    @property
    def n_rows(self) -> int:
        """Rows recorded so far."""
        return len(self._rows) // len(_DTYPES)

    @property
    def n_jobs(self) -> int:
        """Jobs created so far."""
        return len(self._worker)

    def job(self, worker: int, *, round: int = ABSENT, block: int = WHOLE_MODEL) -> int:
        """Number of a new job of `worker`; it is in flight until it is dropped."""
        self._worker.append(worker)
        self._round.append(round)
        self._block.append(block)
        self._begin.append(float("nan"))
        self._share.append(_IN_FLIGHT)
        return len(self._worker) - 1

    def message(self, *, moves: bool = False) -> int:
        """Number of a new message; it is in flight until it is dropped."""
        self._moves.append(moves)
        self._open.append(True)
        return len(self._moves) - 1

    def begin(self, job: int, time: float | None = None) -> None:
        """The worker begins to compute `job` at `time`, by default now."""
        self._begin[job] = self._clock() if time is None else time

    def read(self, job: int, replica: int, *, block: int = WHOLE_MODEL) -> None:
        """READ: the view of `job` is the replica's model as it is now."""
        self._row(Op.READ, self._worker[job], job, ABSENT, replica, block, _NO_WEIGHT, _NO_KEEP)

    def gradient(self, job: int) -> None:
        """GRADIENT: follows the last READ at once, whatever the computation takes."""
        worker = self._worker[job]
        self._row(Op.GRADIENT, worker, job, ABSENT, ABSENT, WHOLE_MODEL, _NO_WEIGHT, _NO_KEEP)

    def encode(self, job: int, *, block: int = WHOLE_MODEL) -> None:
        """ENCODE: the computation of this block has finished."""
        worker = self._worker[job]
        self._row(Op.ENCODE, worker, job, ABSENT, ABSENT, block, _NO_WEIGHT, _NO_KEEP)

    def add(
        self,
        replica: int,
        *,
        job: int = ABSENT,
        message: int = ABSENT,
        block: int = WHOLE_MODEL,
        weight: float = 1.0,
    ) -> None:
        """ADD: a job's or a message's update enters the replica's buffer."""
        host = self._context[1][replica]
        self._row(Op.ADD, host, job, message, replica, block, weight, _NO_KEEP)

    def step(self, replica: int, *, block: int = WHOLE_MODEL) -> None:
        """STEP: the rule applies the buffer."""
        host = self._context[1][replica]
        self._row(Op.STEP, host, ABSENT, ABSENT, replica, block, _NO_WEIGHT, _NO_KEEP)

    def put(
        self,
        message: int,
        *,
        job: int = ABSENT,
        replica: int = ABSENT,
        block: int = WHOLE_MODEL,
        weight: float = 1.0,
        keep: float = _NO_KEEP,
    ) -> None:
        """PUT: a job's update, or a replica's model and mass, enters the message."""
        actor = self._worker[job] if job >= 0 else self._context[1][replica]
        self._row(Op.PUT, actor, job, message, replica, block, weight, keep)

    def mix(self, replica: int, message: int, *, keep: float, weight: float = 1.0) -> None:
        """MIX: the replica keeps `keep` of itself and takes `weight` of the message."""
        host = self._context[1][replica]
        self._row(Op.MIX, host, ABSENT, message, replica, WHOLE_MODEL, weight, keep)

    def drop(self, *, job: int = ABSENT, message: int = ABSENT, share: float = _IN_FLIGHT) -> None:
        """DROP: end of life; a job's `share` in the auxiliary sequence is settled here."""
        actor = ABSENT
        if job >= 0:
            self._share[job] = share
            actor = self._worker[job]
        else:
            self._open[message] = False
        self._row(Op.DROP, actor, job, message, ABSENT, WHOLE_MODEL, _NO_WEIGHT, _NO_KEEP)

    def crash(self, worker: int) -> None:
        """CRASH: the worker's state is gone."""
        self._row(Op.CRASH, worker, ABSENT, ABSENT, ABSENT, WHOLE_MODEL, _NO_WEIGHT, _NO_KEEP)

    def annotate(self, kind: str, worker: int, detail: str = "") -> None:
        """A remark for people and for the report."""
        self._annotations.append(Annotation(self.n_rows, self._clock(), kind, worker, detail))

    def decide(self, question: str, operands: tuple[int, ...], answer: float) -> None:
        """Keep an answer that depended on values."""
        self._decisions.append(Decision(self._clock(), question, operands, answer))

    def rows_since(self, first_row: int) -> Rows:
        """The rows from `first_row` on, as they are now; costs no more than those rows.

        Args:
            first_row: Number of the first row wanted, in [0, n_rows].
        """
        width = len(_DTYPES)
        table = np.frombuffer(self._rows, np.float64).reshape(-1, width)[first_row:]
        # Copies, even where the type fits: a view would keep the array from growing.
        return Rows(*(table[:, k].astype(dtype) for k, dtype in enumerate(_DTYPES.values())))

    def finish(self) -> Schedule:
        """The schedule recorded so far; what was not dropped is declared in flight."""
        jobs = Jobs(
            np.array(self._worker, np.int32),
            np.array(self._round, np.int64),
            np.array(self._block, np.int32),
            np.array(self._begin, np.float64),
            np.array(self._share, np.float64),
        )
        messages = Messages(np.array(self._moves, bool), np.array(self._open, bool))
        n_workers, hosts, block_sizes, seed, provenance = self._context
        metadata = Metadata(
            n_workers=n_workers,
            hosts=hosts,
            block_sizes=block_sizes,
            seed=seed,
            decisions=tuple(self._decisions),
            annotations=tuple(self._annotations),
            provenance=provenance,
        )
        return Schedule(self.rows_since(0), jobs, messages, metadata)

    def _row(
        self,
        op: int,
        worker: int,
        job: int,
        message: int,
        replica: int,
        block: int,
        weight: float,
        keep: float,
    ) -> None:
        self._rows.extend((self._clock(), op, worker, job, message, replica, block, weight, keep))


assert tuple(_DTYPES) == tuple(column.name for column in fields(Rows))
