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

from elastic_consistency.hardware_backend.lowering.masses import Masses, measure_masses
from elastic_consistency.hardware_backend.lowering.placement import Placement
from elastic_consistency.hardware_backend.lowering.routes import (
    COLLECTIVE,
    Crossing,
    Route,
    find_crossings,
)
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

    def told(self) -> str:
        """What goes on, for messages."""
        return f"{self.operand.value} {self.number} from rank {self.source} to rank {self.target}"


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

    def own_rows(self, rank: int) -> np.ndarray:
        """Numbers of the rows that one rank runs, ascending."""
        table, op = self.schedule.rows, self.schedule.rows.op
        of_job, of_replica = self.job_ranks == rank, self.replica_ranks == rank
        own = np.where(np.isin(op, (Op.READ, Op.GRADIENT, Op.ENCODE)), of_job, of_replica)
        gathers = [c.route is Route.GATHER and rank in c.readers for c in self.crossings]
        puts = of_job | of_replica | np.array([*gathers, False])[table.message]
        own = np.where(op == Op.PUT, puts, own)
        crashed = np.flatnonzero(op == Op.CRASH)
        own[crashed] = self.placement.ranks(table.worker[crashed].astype(np.int64)) == rank
        held = np.zeros(len(self.schedule.jobs) + 1, bool)
        held[table.job[own]] = True
        held[ABSENT] = False
        dropped = self.members(rank)[table.message] | held[table.job]
        return np.flatnonzero(np.where(op == Op.DROP, dropped, own))

    def members(self, rank: int) -> np.ndarray:
        """(M + 1,) whether a rank takes part in each crossing; False at the end, for no message."""
        return np.array([rank in c.members for c in self.crossings] + [False])

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
    """One rank's walk through the rows at which something crosses; the others run in between."""

    def __init__(self, lowering: Lowering, rank: int) -> None:
        self._lowering, self._rank = lowering, rank
        self._table = lowering.schedule.rows
        routes = [c.route for c in lowering.crossings]
        self._gathered = np.array([route is Route.GATHER for route in routes] + [False])
        self._own = lowering.own_rows(rank)
        self._handed = 0
        self._carried: dict[int, set[tuple[int, int]]] = {}
        self._last_use = np.full(len(lowering.schedule.jobs), -1)
        self._launched: dict[int, Crossing] = {}

    def steps(self) -> Iterator[Step]:
        table, visited = self._table, self._visited()
        updates = visited[(table.op[visited] != Op.READ) & (table.job[visited] != ABSENT)]
        self._last_use[table.job[updates]] = updates
        before = np.searchsorted(self._own, visited).tolist()
        after = np.searchsorted(self._own, visited, side="right").tolist()
        ops, messages = table.op[visited].tolist(), table.message[visited].tolist()
        read, put = int(Op.READ), int(Op.PUT)
        for row, op, message, *ends in zip(
            visited.tolist(), ops, messages, before, after, strict=True
        ):
            if op == put and not self._gathered[message]:
                yield from self._launch(message, ends[1])
            elif op == put:
                yield from self._gather(row, message, ends[0])
            elif op == read:
                yield from self._read(row, ends[0])
            elif message == ABSENT:
                yield from self._add(row, ends[0])
            else:
                yield from self._collect(message, row, ends[0])
        for crossing in list(self._launched.values()):
            yield from self._collect(crossing.message, -1, len(self._own))
        yield from self._run(len(self._own))

    def _visited(self) -> np.ndarray:
        """Rows at which this rank sends, receives, launches or waits."""
        low, table, op = self._lowering, self._table, self._table.op
        mine = (low.job_ranks == self._rank) | (low.replica_ranks == self._rank)
        of_job = (op == Op.READ) | ((op == Op.ADD) & (table.job != ABSENT))
        visited = of_job & mine & (low.job_ranks != low.replica_ranks)
        member = low.members(self._rank)
        visited |= (op == Op.PUT) & (member & self._gathered)[table.message]
        local = np.array([c.route is Route.LOCAL for c in low.crossings] + [True])
        flies = member & ~self._gathered & ~local
        visited[[c.launch for c in low.crossings if flies[c.message]]] = True
        users = self._own[(op[self._own] != Op.PUT) & flies[table.message[self._own]]]
        _, first = np.unique(table.message[users], return_index=True)
        visited[users[first]] = True
        return np.flatnonzero(visited)

    def _run(self, end: int) -> Iterator[Step]:
        """The rows of this rank up to its own number `end` that it has not run yet."""
        if end > self._handed:
            yield Run(self._own[self._handed : end])
            self._handed = end

    def _read(self, row: int, end: int) -> Iterator[Step]:
        source, target = self._lowering.replica_ranks[row], self._lowering.job_ranks[row]
        yield from self._carry_model(row, int(source), int(target), end)

    def _add(self, row: int, end: int) -> Iterator[Step]:
        source, target = self._lowering.job_ranks[row], self._lowering.replica_ranks[row]
        yield from self._carry_update(row, int(source), int(target), end)
        self._forget(row)

    def _gather(self, row: int, message: int, end: int) -> Iterator[Step]:
        of_job = self._table.job[row] != ABSENT
        carry = self._carry_update if of_job else self._carry_model
        owner = int(max(self._lowering.job_ranks[row], self._lowering.replica_ranks[row]))
        for reader in self._lowering.crossings[message].readers:
            yield from carry(row, owner, reader, end)
        self._forget(row)

    def _forget(self, row: int) -> None:
        job = self._table.job[row]
        if job != ABSENT and self._last_use[job] == row:
            self._carried.pop(int(job), None)

    def _launch(self, message: int, end: int) -> Iterator[Step]:
        yield from self._run(end)
        self._launched[message] = self._lowering.crossings[message]
        yield Launch(self._launched[message])

    def _collect(self, message: int, row: int, end: int) -> Iterator[Step]:
        yield from self._run(end)
        crossing = self._launched.pop(message)
        yield Collect(crossing, row, float(self._lowering.masses.messages[message]))

    def _carry_model(self, row: int, source: int, target: int, end: int) -> Iterator[Step]:
        if source != target and self._rank in (source, target):
            yield from self._run(end)
            replica = int(self._table.replica[row])
            mass = float(self._lowering.masses.before[row])
            yield Carry(row, Operand.MODEL, replica, self._blocks(row), source, target, mass)

    def _carry_update(self, row: int, source: int, target: int, end: int) -> Iterator[Step]:
        if source == target or self._rank not in (source, target):
            return
        job, block = int(self._table.job[row]), int(self._table.block[row])
        carried = self._carried.setdefault(job, set())
        if carried.isdisjoint({(target, block), (target, ABSENT)}):
            carried.add((target, block))
            yield from self._run(end)
            yield Carry(row, Operand.UPDATE, job, self._blocks(row), source, target)

    def _blocks(self, row: int) -> tuple[int, ...]:
        block = int(self._table.block[row])
        return () if block == ABSENT else (block,)
