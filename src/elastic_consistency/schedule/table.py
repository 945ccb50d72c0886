"""The schedule: an immutable table of events, the one intermediate representation."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from elastic_consistency.schedule.influence import Influence
    from elastic_consistency.schedule.staleness import Staleness

FORMAT_VERSION = 1


def _freeze(table: object) -> None:
    for column in fields(table):  # type: ignore[arg-type]
        getattr(table, column.name).flags.writeable = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What happens, in the total order in which it happens; E rows.

    Attributes:
        time: (E,) float64, s, non-decreasing.
        op: (E,) int8, a member of Op.
        worker: (E,) int32, who acts; -1 for the server.
        job: (E,) int64, -1 where absent.
        message: (E,) int64, -1 where absent.
        replica: (E,) int32, -1 where absent.
        block: (E,) int32, -1 for the whole model.
        weight: (E,) float64; 0 in rows that take no weight.
        keep: (E,) float64 in [0, 1]; -1 where absent.
    """

    time: np.ndarray
    op: np.ndarray
    worker: np.ndarray
    job: np.ndarray
    message: np.ndarray
    replica: np.ndarray
    block: np.ndarray
    weight: np.ndarray
    keep: np.ndarray

    def __post_init__(self) -> None:
        _freeze(self)

    def __len__(self) -> int:
        return len(self.time)

    def slice(self, first: int, last: int) -> "Rows":
        """Rows `first` to `last`, without copying."""
        return Rows(*(getattr(self, column.name)[first:last] for column in fields(self)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Jobs:
    """One stochastic gradient a row; J jobs, and the job number fixes the sample.

    Attributes:
        worker: (J,) int32, who computes.
        round: (J,) int64, the synchronous round; -1 when the job is its own.
        block: (J,) int32, -1 for the whole model.
        begin: (J,) float64, s, when the worker begins to compute; NaN if it never did.
        share: (J,) float64, weight in the auxiliary sequence, 0 when discarded; NaN while
            the job is declared in flight at the end of the schedule.
    """

    worker: np.ndarray
    round: np.ndarray
    block: np.ndarray
    begin: np.ndarray
    share: np.ndarray

    def __post_init__(self) -> None:
        _freeze(self)

    def __len__(self) -> int:
        return len(self.worker)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """One message a row.

    Attributes:
        moves: bool, whether the message takes mass away from its donor; else it copies.
        in_flight: bool, declared to be in flight at the end of the schedule.
    """

    moves: np.ndarray
    in_flight: np.ndarray

    def __post_init__(self) -> None:
        _freeze(self)

    def __len__(self) -> int:
        return len(self.moves)


@final
@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark that no executor needs: a fault, a restart, a retransmission.

    Attributes:
        row: The remark belongs before this row.
        time: s.
        kind: Short name, such as "restart" or "retransmission".
        worker: Whom it concerns, -1 for the server.
        detail: Free text.
    """

    row: int
    time: float
    kind: str
    worker: int
    detail: str = ""


@final
@dataclass(frozen=True, slots=True)
class Decision:
    """An answer that depended on values; replay repeats it instead of asking again.

    Attributes:
        time: s.
        question: Name of the question.
        operands: Numbers of the jobs, layers or workers it was about.
        answer: What the executor answered.
    """

    time: float
    question: str
    operands: tuple[int, ...]
    answer: float


@final
@dataclass(frozen=True, slots=True)
class Metadata:
    """What the columns do not say.

    Attributes:
        n_workers: Number of workers.
        hosts: Host of each replica: a worker, or -1 for the server.
        block_sizes: Parameters in each block; () when the schedule has one block of any size.
        seed: Seed of the timing.
        decisions: Recorded answers, in order.
        annotations: Remarks, in order.
        provenance: Names of protocol and cluster and their parameters, for people.
        format_version: Version of the format.
    """

    n_workers: int
    hosts: tuple[int, ...]
    block_sizes: tuple[int, ...] = ()
    seed: int = 0
    decisions: tuple[Decision, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    @property
    def n_blocks(self) -> int:
        """Number of blocks, at least 1."""
        return max(1, len(self.block_sizes))


@final
@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Schedule:
    """Who read, computed, sent and applied what, and when.

    Attributes:
        rows: The events.
        jobs: The stochastic gradients.
        messages: The messages.
        metadata: Everything else.
    """

    rows: Rows
    jobs: Jobs
    messages: Messages
    metadata: Metadata
    _digest: str | None = field(default=None, init=False, repr=False)

    def chunks(self, size: int = 8192) -> Iterator[Rows]:
        """The rows in order, `size` at a time."""
        for first in range(0, len(self.rows), size):
            yield self.rows.slice(first, first + size)

    def check(self) -> None:
        """Raise ScheduleError, naming rule and row, unless every invariant holds."""
        from elastic_consistency.schedule.checks import check_schedule

        check_schedule(self)

    def staleness(self) -> "Staleness":
        """Staleness of every ADD row, in steps; see schedule.staleness."""
        from elastic_consistency.schedule.staleness import measure_staleness

        return measure_staleness(self)

    def in_flight(self) -> np.ndarray:
        """(J,) other jobs read and not yet applied at each job's first READ."""
        from elastic_consistency.schedule.staleness import in_flight_at_reads

        return in_flight_at_reads(self)

    def influence(self) -> "Influence":
        """Exact coefficients of every job in every view; see schedule.influence."""
        from elastic_consistency.schedule.influence import compute_influence

        return compute_influence(self)

    def digest(self) -> str:
        """SHA-256 of everything but provenance; equal schedules have equal digests."""
        if self._digest is None:  # hashing takes as long as a short execution: once is enough
            object.__setattr__(self, "_digest", self._hash())
        assert self._digest is not None
        return self._digest

    def _hash(self) -> str:
        state = hashlib.sha256()
        for table in (self.rows, self.jobs, self.messages):
            for column in fields(table):
                values = np.ascontiguousarray(getattr(table, column.name))
                state.update(f"{column.name}:{values.dtype.str}:{values.size};".encode())
                state.update(values.view(np.uint8).data)
        state.update(json.dumps(self.describe(provenance=False), sort_keys=True).encode())
        return state.hexdigest()

    def describe(self, *, provenance: bool = True) -> dict[str, Any]:
        """The metadata as plain JSON types."""
        meta = self.metadata
        text: dict[str, Any] = {
            "format_version": meta.format_version,
            "n_workers": meta.n_workers,
            "hosts": list(meta.hosts),
            "block_sizes": list(meta.block_sizes),
            "seed": meta.seed,
            "decisions": [[d.time, d.question, list(d.operands), d.answer] for d in meta.decisions],
            "annotations": [[a.row, a.time, a.kind, a.worker, a.detail] for a in meta.annotations],
        }
        return text | {"provenance": meta.provenance} if provenance else text

    def save(self, path: str | Path) -> None:
        """Write one parquet file, atomically; see schedule.storage."""
        from elastic_consistency.schedule.storage import save_schedule

        save_schedule(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> "Schedule":
        """Read a file written by save(); see schedule.storage for what is refused."""
        from elastic_consistency.schedule.storage import load_schedule

        return load_schedule(Path(path))
