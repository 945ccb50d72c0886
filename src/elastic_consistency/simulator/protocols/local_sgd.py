"""Local SGD: everybody steps alone for a while, then all models are averaged."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.network.collectives import (
    AbstractCollective,
    Ring,
    collective_seconds,
)
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.elastic_rounds import AbstractRoundWork, ElasticRounds
from elastic_consistency.simulator.protocols.fault_restatement import has_faults, require_lives
from elastic_consistency.simulator.protocols.local_sgd_restatement import require_averages
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
    rows_of_jobs,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class LocalSgd(AbstractUnreliableProtocol):
    """Each worker takes `steps` steps on its own replica; then the replicas are averaged.

    The number of a job's round is the number of steps that its worker took before, so that the
    aggregate of earlier rounds is the mean of the replicas. When workers crash or join late, the
    windows are those of ElasticRounds, with weights and shares 1/c for the c members left.

    Attributes:
        steps: H, steps between two averages, >= 1.
        collective: Algorithm of the average, which sets its time.

    Source: Stich (2019), arXiv:1805.09767.
    """

    steps: int
    collective: AbstractCollective = field(default_factory=Ring)

    def __post_init__(self) -> None:
        check(self.steps >= 1, self, "steps", "a number of steps >= 1")

    def hosts(self, cluster):
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        if simulation.cluster.faults.moves_workers:
            work = _OneWindowEach(simulation, self.steps)
            ElasticRounds(simulation, self.collective, work).begin()
        else:
            _Windows(simulation, self).begin()

    def restate(self, schedule):
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        rule, rows, jobs = "local SGD", schedule.rows, schedule.jobs
        p, steps = schedule.metadata.n_workers, self.steps
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX), rule)
        found = rows_of_jobs(schedule, APPLIED_ALONE, rule)
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == 1 / p).all()), rule, "a share is 1/p")
        read = found[:, 0]
        own = rows.replica[read] == jobs.worker
        require_everywhere(own, read, rule, "a worker reads its own replica")
        mixed = np.cumsum(rows.op == Op.MIX)
        window = mixed[read] // p == jobs.round // steps
        require_everywhere(window, read, rule, f"an average follows every {steps} rounds")
        mixes = np.flatnonzero(rows.op == Op.MIX)
        order = rows.replica[mixes] == np.arange(len(mixes)) % p
        require_everywhere(order, mixes, rule, "an average reaches every replica once")
        require_everywhere(rows.keep[mixes] == 0, mixes, rule, "and replaces it")
        put = np.flatnonzero(rows.op == Op.PUT)
        require_everywhere(rows.weight[put] == 1 / p, put, rule, "each replica weighs 1/p")
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1, add, rule, "a step takes one whole update")
        require_steps_after_adds(schedule, rule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "local SGD", schedule.rows, schedule.jobs
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX, Op.CRASH), rule)
        found = require_lives(schedule, APPLIED_ALONE, rule)
        for column in (0, 3):
            at = found[:, column][found[:, column] >= 0]
            own = rows.replica[at] == jobs.worker[rows.job[at]]
            require_everywhere(own, at, rule, "a worker reads and steps on its own replica")
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1, add, rule, "a step takes one whole update")
        require_steps_after_adds(schedule, rule)
        require_averages(schedule, self.steps, found, rule)


@final
class _Windows:
    """The windows of one run."""

    __slots__ = ("_averaged", "_collective", "_jobs", "_message", "_missing", "_p",
                 "_processors", "_simulation", "_steps", "_taken", "_window")  # fmt: skip

    def __init__(self, simulation: Simulation, protocol: LocalSgd) -> None:
        self._simulation, self._steps = simulation, protocol.steps
        self._collective = protocol.collective
        self._p = simulation.cluster.n_workers
        workers = range(self._p)
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._averaged = Alarm(simulation.env, self._on_averaged)
        self._jobs = [-1] * self._p
        self._window = -1
        self._message = ABSENT
        self._missing = 0
        self._taken = [0] * self._p

    def begin(self) -> None:
        simulation = self._simulation
        if not simulation.admit(simulation.env.now, self._p * self._steps):
            return
        self._window += 1
        self._message = ABSENT
        self._missing = self._p
        self._taken = [0] * self._p
        for worker in range(self._p):
            self._begin_step(worker)

    def _begin_step(self, worker: int) -> None:
        record, now = self._simulation.record, self._simulation.env.now
        job = record.job(worker, round=self._window * self._steps + self._taken[worker])
        self._jobs[worker] = job
        record.read(job, worker)
        record.gradient(job)
        record.begin(job, now)
        self._processors[worker].start()

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            record, job = self._simulation.record, self._jobs[worker]
            record.encode(job)
            record.add(worker, job=job)
            record.step(worker)
            record.drop(job=job, share=1 / self._p)
            self._taken[worker] += 1
            if self._taken[worker] < self._steps:
                self._begin_step(worker)
            else:
                self._ready(worker)

        return finished

    def _ready(self, worker: int) -> None:
        if self._message == ABSENT:
            self._message = self._simulation.record.message()
        self._simulation.record.put(self._message, replica=worker, weight=1 / self._p)
        self._missing -= 1
        if self._missing == 0:
            simulation = self._simulation
            n_bytes = simulation.model_bytes
            seconds = collective_seconds(self._collective, simulation.network, n_bytes)
            self._averaged.set(seconds)

    def _on_averaged(self, event: simpy.Event) -> None:
        record = self._simulation.record
        for replica in range(self._p):
            record.mix(replica, self._message, keep=0.0)
        record.drop(message=self._message)
        self.begin()


@final
class _OneWindowEach(AbstractRoundWork):
    """A window of local SGD whose members may change: some steps each, and the average."""

    __slots__ = ("_done", "_has_stepped", "_jobs", "_processors", "_rounds", "_simulation",
                 "_steps")  # fmt: skip

    def __init__(self, simulation: Simulation, steps: int) -> None:
        self._simulation, self._steps = simulation, steps
        workers = range(simulation.cluster.n_workers)
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._jobs: dict[int, list[int]] = {}  # of the window
        self._done: dict[int, Callable[[], None]] = {}  # of those who are computing
        self._rounds: dict[int, int] = {}  # windows
        self._has_stepped = False

    def jobs_each(self):
        return self._steps

    def n_bytes(self):
        return self._simulation.model_bytes

    def has_stepped(self):
        return self._has_stepped

    def begin(self, worker, round, done):
        self._jobs[worker], self._done[worker], self._rounds[worker] = [], done, round
        self._begin_step(worker)

    def _begin_step(self, worker: int) -> None:
        record, jobs = self._simulation.record, self._jobs[worker]
        job = record.job(worker, round=self._rounds[worker] * self._steps + len(jobs))
        jobs.append(job)
        record.read(job, worker)
        record.gradient(job)
        record.begin(job)
        self._processors[worker].start()

    def _finished_by(self, worker: int) -> Callable[[simpy.Event], None]:
        def finished(event: simpy.Event) -> None:
            record, jobs = self._simulation.record, self._jobs[worker]
            record.encode(jobs[-1])
            record.add(worker, job=jobs[-1])
            record.step(worker)
            self._has_stepped = True
            if len(jobs) < self._steps:
                self._begin_step(worker)
            else:
                self._done.pop(worker)()

        return finished

    def lose(self, worker):
        if self._done.pop(worker, None):
            self._processors[worker].cancel()
        for job in self._jobs[worker]:
            self._simulation.record.drop(job=job, share=0.0)

    def reduce(self, workers):
        record, share = self._simulation.record, 1 / len(workers)
        message = record.message()
        for worker in workers:
            record.put(message, replica=worker, weight=share)
        for worker in workers:
            record.mix(worker, message, keep=0.0)
        record.drop(message=message)
        for worker in workers:
            for job in self._jobs[worker]:
                record.drop(job=job, share=share)
