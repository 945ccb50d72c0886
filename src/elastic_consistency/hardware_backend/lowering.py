"""Lowering: the rows of a schedule become, for each rank, what it runs, sends and receives.

Every rank walks the same rows in the same order. It runs the rows of its own workers and
replicas; where a row needs an operand that lives elsewhere, the owner sends and the runner
receives at that row. Launches never block and a wait only ever concerns earlier rows, so the
rank that stands at the earliest row can always move: no deadlock.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from elastic_consistency.hardware_backend.masses import Masses, measure_masses
from elastic_consistency.hardware_backend.placement import Placement
from elastic_consistency.hardware_backend.routes import COLLECTIVE, Crossing, Route, find_crossings
from elastic_consistency.schedule import ABSENT, Op, Schedule


@final
@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Execute rows with these numbers, in order."""

    rows: np.ndarray


class Operand(Enum):
    """What can be carried; the value is its name in messages."""

    MODEL = "model of replica"
    UPDATE = "update of job"


@final
@dataclass(frozen=True, slots=True)
class Carry:
    """One operand goes from the rank that owns it to the rank that runs the row.

    Attributes:
        row: The row that needs it.
        operand: What it is.
        number: Of the replica or of the job.
        blocks: Which blocks; () is the whole model.
        source: Rank that owns it.
        target: Rank that needs it.
        mass: Mass of the replica, 1 for an update.
    """

    row: int
    operand: Operand
    number: int
    blocks: tuple[int, ...]
    source: int
    target: int
    mass: float = 1.0


@final
@dataclass(frozen=True, slots=True)
class Launch:
    """Begin the crossing of a message, without waiting."""

    crossing: Crossing


@final
@dataclass(frozen=True, slots=True)
class Collect:
    """Wait for the crossing of a message; `row` needs it, -1 at the end of the schedule."""

    crossing: Crossing
    row: int
    mass: float


Step = Run | Carry | Launch | Collect


@final
@dataclass(frozen=True, slots=True, eq=False)
class Lowering:
    """What every rank does, worked out once for all of them.

    Attributes:
        schedule: The schedule.
        placement: Which rank plays which host.
        crossings: By message.
        masses: Of replicas and messages.
        job_ranks: (E,) rank of the job's worker, -1 for rows without a job.
        replica_ranks: (E,) rank of the replica's host, -1 for rows without a replica.
    """

    schedule: Schedule
    placement: Placement
    crossings: list[Crossing]
    masses: Masses
    job_ranks: np.ndarray
    replica_ranks: np.ndarray

    def groups(self) -> list[tuple[int, ...]]:
        """Members of every collective that is not between all ranks, without repetitions."""
        found = {c.members for c in self.crossings if c.route in COLLECTIVE}
        return sorted(found - {tuple(range(self.placement.n_ranks))})

    def hosted(self, rank: int) -> tuple[int, ...]:
        """Replicas that live on a rank."""
        ranks = self.placement.ranks(np.array(self.schedule.metadata.hosts, np.int64))
        return tuple(np.flatnonzero(ranks == rank).tolist())

    def steps(self, rank: int) -> Iterator[Step]:
        """What one rank does, in order."""
        return _Walk(self, rank).steps()


def lower(schedule: Schedule, placement: Placement, *, ordered: bool = False) -> Lowering:
    """Work out who runs which row and how operands and messages cross.

    Args:
        schedule: A valid schedule.
        placement: Which rank plays which host.
        ordered: Sum the contributions to a message in the order of its PUT rows, so that the
            result equals the executor's bit for bit; else a reduction sums them.
    """
    table, jobs, meta = schedule.rows, schedule.jobs, schedule.metadata
    hosts = np.array(meta.hosts, np.int64)
    of_jobs = placement.ranks(jobs.worker.astype(np.int64))
    of_replicas = placement.ranks(hosts)
    job_ranks = np.where(table.job == ABSENT, ABSENT, np.append(of_jobs, ABSENT)[table.job])
    replica_ranks = np.where(
        table.replica == ABSENT, ABSENT, np.append(of_replicas, ABSENT)[table.replica]
    )
    worker_ranks = placement.ranks(table.worker.astype(np.int64))
    crossings = find_crossings(schedule, worker_ranks, n_ranks=placement.n_ranks, ordered=ordered)
    masses = measure_masses(schedule)
    return Lowering(schedule, placement, crossings, masses, job_ranks, replica_ranks)


@final
class _Walk:
    """One rank's walk through all rows."""

    def __init__(self, lowering: Lowering, rank: int) -> None:
        self._lowering, self._rank = lowering, rank
        self._table = lowering.schedule.rows
        self._own: list[int] = []
        self._carried: dict[int, set[tuple[int, int]]] = {}
        self._launched: dict[int, Crossing] = {}

    def steps(self) -> Iterator[Step]:
        for row in self._concerning():
            op = self._table.op[row]
            if op == Op.READ:
                yield from self._read(row)
            elif op == Op.PUT:
                yield from self._put(row)
            elif op == Op.DROP:
                yield from self._drop(row)
            elif self._table.message[row] != ABSENT:
                yield from self._use(row)
            elif op == Op.ADD:
                yield from self._add(row)
            else:
                self._run(row, self._owner(row))
        yield from self._flush()
        for crossing in list(self._launched.values()):
            yield from self._collect(crossing.message, -1)

    def _concerning(self) -> list[int]:
        """Rows in which this rank has a part."""
        low, table, rank = self._lowering, self._table, self._rank
        mine = (low.job_ranks == rank) | (low.replica_ranks == rank)
        member = np.array([rank in c.members for c in low.crossings] + [False])
        mine |= np.isin(table.op, (Op.PUT, Op.DROP)) & member[table.message]
        mine |= (table.op == Op.DROP) & (table.job != ABSENT)
        crashed = np.flatnonzero(table.op == Op.CRASH)
        mine[crashed] = low.placement.ranks(table.worker[crashed].astype(np.int64)) == rank
        return np.flatnonzero(mine).tolist()

    def _owner(self, row: int) -> int:
        job, replica = self._lowering.job_ranks[row], self._lowering.replica_ranks[row]
        return self._rank if job == replica == ABSENT else int(max(job, replica))

    def _run(self, row: int, runner: int) -> None:
        if runner == self._rank:
            self._own.append(row)

    def _flush(self) -> Iterator[Step]:
        if self._own:
            yield Run(np.array(self._own))
            self._own = []

    def _read(self, row: int) -> Iterator[Step]:
        source, target = self._lowering.replica_ranks[row], self._lowering.job_ranks[row]
        yield from self._carry_model(row, int(source), int(target))
        self._run(row, int(target))

    def _add(self, row: int) -> Iterator[Step]:
        source, target = self._lowering.job_ranks[row], self._lowering.replica_ranks[row]
        yield from self._carry_update(row, int(source), int(target))
        self._run(row, int(target))

    def _put(self, row: int) -> Iterator[Step]:
        crossing = self._lowering.crossings[self._table.message[row]]
        owner = self._owner(row)
        if crossing.route is Route.GATHER:
            of_job = self._table.job[row] != ABSENT
            carry = self._carry_update if of_job else self._carry_model
            for reader in crossing.readers:
                yield from carry(row, owner, reader)
            self._run(row, self._rank if self._rank in crossing.readers else owner)
            return
        self._run(row, owner)
        if row == crossing.launch and crossing.route is not Route.LOCAL:
            yield from self._flush()
            self._launched[crossing.message] = crossing
            yield Launch(crossing)

    def _use(self, row: int) -> Iterator[Step]:
        if self._lowering.replica_ranks[row] == self._rank:
            yield from self._collect(int(self._table.message[row]), row)
            self._own.append(row)

    def _drop(self, row: int) -> Iterator[Step]:
        if self._table.message[row] != ABSENT:
            yield from self._collect(int(self._table.message[row]), row)
        self._carried.pop(int(self._table.job[row]), None)
        self._own.append(row)

    def _collect(self, message: int, row: int) -> Iterator[Step]:
        crossing = self._launched.pop(message, None)
        if crossing is not None:
            yield from self._flush()
            yield Collect(crossing, row, float(self._lowering.masses.messages[message]))

    def _carry_model(self, row: int, source: int, target: int) -> Iterator[Step]:
        if source != target and self._rank in (source, target):
            yield from self._flush()
            replica = int(self._table.replica[row])
            mass = float(self._lowering.masses.before[row])
            yield Carry(row, Operand.MODEL, replica, self._blocks(row), source, target, mass)

    def _carry_update(self, row: int, source: int, target: int) -> Iterator[Step]:
        if source == target or self._rank not in (source, target):
            return
        job, block = int(self._table.job[row]), int(self._table.block[row])
        carried = self._carried.setdefault(job, set())
        if carried.isdisjoint({(target, block), (target, ABSENT)}):
            carried.add((target, block))
            yield from self._flush()
            yield Carry(row, Operand.UPDATE, job, self._blocks(row), source, target)

    def _blocks(self, row: int) -> tuple[int, ...]:
        block = int(self._table.block[row])
        return () if block == ABSENT else (block,)
