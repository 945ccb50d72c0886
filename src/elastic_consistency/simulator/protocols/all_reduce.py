"""Synchronous data parallelism: every round waits for its slowest worker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np
import simpy

from elastic_consistency.schedule import ABSENT, Op, Schedule
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.network.collectives import (
    AbstractCollective,
    Ring,
    collective_seconds,
)
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.elastic_rounds import AbstractRoundWork, ElasticRounds
from elastic_consistency.simulator.protocols.elastic_rounds_restatement import (
    require_elastic_rounds,
)
from elastic_consistency.simulator.protocols.fault_restatement import has_faults
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
    rows_of_jobs,
)
from elastic_consistency.simulator.simulation import Simulation

_LIFE = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.PUT, Op.DROP)


@final
@dataclass(frozen=True, slots=True)
class AllReduce(AbstractUnreliableProtocol):
    """p workers compute at the same model, sum their updates and step, in rounds.

    Each worker holds a replica, and all replicas stay equal. The all-reduce starts when the
    slowest worker has finished and ends everywhere at once. With links that cost nothing it
    is minibatch stochastic gradient descent. When workers crash or join late, the rounds are
    those of ElasticRounds, with weights and shares 1/c for the c members of a round.

    Attributes:
        collective: Algorithm of the all-reduce, which sets its time.
    """

    collective: AbstractCollective = field(default_factory=Ring)

    def hosts(self, cluster):
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        if simulation.cluster.faults.moves_workers:
            ElasticRounds(simulation, self.collective, _OneJobEach(simulation)).begin()
        else:
            _Rounds(simulation, self.collective).begin()

    def restate(self, schedule):
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        rule, p = "all-reduce", schedule.metadata.n_workers
        require_only(schedule, (*_LIFE, Op.ADD, Op.STEP), rule)
        found = rows_of_jobs(schedule, _LIFE, rule)
        job = np.arange(len(found))
        members = (schedule.jobs.worker == job % p) & (schedule.jobs.round == job // p)
        require_everywhere(members, found[:, 0], rule, "each worker has one job a round")
        share = schedule.jobs.share
        refuse_unless(bool((share[~np.isnan(share)] == 1 / p).all()), rule, "a share is 1/p")
        own = schedule.rows.replica[found[:, 0]] == job % p
        require_everywhere(own, found[:, 0], rule, "a worker reads its own replica")
        _require_whole_rounds(schedule, found, p, rule)

    def restate_with_faults(self, schedule):
        require_elastic_rounds(schedule, "all-reduce")


def _require_whole_rounds(schedule: Schedule, found: np.ndarray, p: int, rule: str) -> None:
    rows = schedule.rows
    put = np.flatnonzero(rows.op == Op.PUT)
    require_everywhere(rows.message[put] == rows.job[put] // p, put, rule, "a message a round")
    require_everywhere(rows.weight[put] == 1 / p, put, rule, "a contribution weighs 1/p")
    require_everywhere(put == found[rows.job[put], 2] + 1, put, rule, "PUT follows ENCODE at once")
    add = np.flatnonzero(rows.op == Op.ADD)
    number = np.arange(len(add))
    whole = (rows.message[add] == number // p) & (rows.replica[add] == number % p)
    require_everywhere(whole, add, rule, "every replica adds the message of every round once")
    require_everywhere(rows.weight[add] == 1, add, rule, "a message weighs 1")
    step = np.append(rows.op, -1)[add + 1] == Op.STEP
    require_everywhere(step, add, rule, "STEP follows ADD at once")
    same = np.append(rows.replica, -1)[add + 1] == rows.replica[add]
    require_everywhere(same, add, rule, "it is the replica that added which steps")
    refuse_unless(int((rows.op == Op.STEP).sum()) == len(add), rule, "#STEP = #ADD")
    finished = found[:, 4][: len(add)]
    refuse_unless(len(add) % p == 0 and len(finished) == len(add), rule, "rounds are whole")
    _require_order(schedule, found, add, p, rule)


def _require_order(
    schedule: Schedule, found: np.ndarray, add: np.ndarray, p: int, rule: str
) -> None:
    """Round r reads, computes, adds and drops; then round r + 1 begins."""
    rows = schedule.rows
    first_add, last_add = add[::p], add[p - 1 :: p]
    done = found[: len(add)]
    later = np.repeat(first_add, p) > done[:, 3]
    require_everywhere(later, done[:, 3], rule, "a round adds only when all have put")
    block = np.arange(p)
    messages = np.flatnonzero((rows.op == Op.DROP) & (rows.message >= 0))
    refuse_unless(np.array_equal(messages, last_add + 2), rule, "the message is dropped at once")
    dropped = (np.repeat(last_add, p) + 3) + np.tile(block, len(last_add))
    require_everywhere(done[:, 4] == dropped, done[:, 4], rule, "then its jobs, in order")
    begin = np.concatenate(([0], last_add + 3 + p))[: len(found) // p]
    reads = np.repeat(begin, p) + 2 * np.tile(block, len(begin))
    require_everywhere(found[:, 0] == reads, found[:, 0], rule, "then all read at once")
    together = rows.time[found[:, 0]] == np.repeat(rows.time[begin], p)
    require_everywhere(together, found[:, 0], rule, "a round begins everywhere at once")


@final
class _Rounds:
    """The rounds of one run."""

    __slots__ = ("_collective", "_done", "_jobs", "_message", "_missing", "_processors", "_round",
                 "_simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, collective: AbstractCollective) -> None:
        self._simulation, self._collective = simulation, collective
        workers = range(simulation.cluster.n_workers)
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._done = Alarm(simulation.env, self._reduced)
        self._jobs: list[int] = []
        self._round = -1
        self._message = ABSENT
        self._missing = 0

    def begin(self) -> None:
        simulation, record = self._simulation, self._simulation.record
        now = simulation.env.now
        if not simulation.admit(now, simulation.cluster.n_workers):
            return
        self._round += 1
        self._missing = len(self._processors)
        self._message = ABSENT
        self._jobs = [record.job(w, round=self._round) for w in range(self._missing)]
        for worker, job in enumerate(self._jobs):
            record.read(job, worker)
            record.gradient(job)
            record.begin(job, now)
            self._processors[worker].start()

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            record, job = self._simulation.record, self._jobs[worker]
            record.encode(job)
            if self._message == ABSENT:
                self._message = record.message()
            record.put(self._message, job=job, weight=1 / len(self._jobs))
            self._missing -= 1
            if self._missing == 0:
                self._reduce()

        return finished

    def _reduce(self) -> None:
        simulation = self._simulation
        n_bytes = simulation.update_bytes
        self._done.set(collective_seconds(self._collective, simulation.network, n_bytes))

    def _reduced(self, event: simpy.Event) -> None:
        record = self._simulation.record
        for replica in range(len(self._jobs)):
            record.add(replica, message=self._message)
            record.step(replica)
        record.drop(message=self._message)
        for job in self._jobs:
            record.drop(job=job, share=1 / len(self._jobs))
        self.begin()


@final
class _OneJobEach(AbstractRoundWork):
    """A round of the elastic all-reduce: one job each, and their sum."""

    __slots__ = ("_done", "_has_stepped", "_jobs", "_processors", "_simulation")

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        workers = range(simulation.cluster.n_workers)
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._jobs: dict[int, int] = {}
        self._done: dict[int, Callable[[], None]] = {}  # of those who are computing
        self._has_stepped = False

    def has_stepped(self):
        return self._has_stepped

    def jobs_each(self):
        return 1

    def n_bytes(self):
        return self._simulation.update_bytes

    def begin(self, worker, round, done):
        record = self._simulation.record
        job = self._jobs[worker] = record.job(worker, round=round)
        record.read(job, worker)
        record.gradient(job)
        record.begin(job)
        self._done[worker] = done
        self._processors[worker].start()

    def _finished_by(self, worker: int) -> Callable[[simpy.Event], None]:
        def finished(event: simpy.Event) -> None:
            self._simulation.record.encode(self._jobs[worker])
            self._done.pop(worker)()

        return finished

    def lose(self, worker):
        if self._done.pop(worker, None):
            self._processors[worker].cancel()
        self._simulation.record.drop(job=self._jobs[worker], share=0.0)

    def reduce(self, workers):
        record, share = self._simulation.record, 1 / len(workers)
        self._has_stepped = True
        message = record.message()
        for worker in workers:
            record.put(message, job=self._jobs[worker], weight=share)
        for worker in workers:
            record.add(worker, message=message)
            record.step(worker)
        record.drop(message=message)
        for worker in workers:
            record.drop(job=self._jobs[worker], share=share)
