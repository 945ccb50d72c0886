"""A server that is asked only every few steps: Downpour's window and its normalised form."""

from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, SERVER, Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
    rows_of_jobs,
)
from elastic_consistency.simulator.simulation import Simulation

_LIFE = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.PUT, Op.DROP)


@final
@dataclass(frozen=True, slots=True)
class LocalStepsServer(AbstractProtocol):
    """A worker pulls the model, takes `window` steps on its copy and commits their sum.

    Replica 0 is the server's; worker k steps on replica k + 1. A window begins only if all its
    jobs are within the limit.

    Attributes:
        window: Steps between a pull and its commit, >= 1.
        normalised: Whether the commit is the mean of the steps instead of their sum, which is
            accumulated gradient normalisation.

    Source: Dean et al. (2012), Large Scale Distributed Deep Networks; Hermans, Spanakis, Möckel
    (2017), arXiv:1710.02368.
    """

    window: int
    normalised: bool = False

    def __post_init__(self) -> None:
        check(self.window >= 1, self, "window", "a number of steps >= 1")

    @property
    def weight(self) -> float:
        """Weight of each step in the commit."""
        return 1 / self.window if self.normalised else 1.0

    def hosts(self, cluster):
        return (SERVER, *range(cluster.n_workers))

    def start(self, simulation):
        for worker in range(simulation.cluster.n_workers):
            _Committer(simulation, worker, self).pull()

    def restate(self, schedule):
        rule, rows, jobs = "local steps", schedule.rows, schedule.jobs
        require_only(schedule, (*_LIFE, Op.STEP, Op.MIX), rule)
        found = rows_of_jobs(schedule, _LIFE, rule)
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == self.weight).all()), rule, "a share is the commit's weight")
        for column in (0, 3):
            at = found[:, column][found[:, column] >= 0]
            own = rows.replica[at] == jobs.worker[rows.job[at]] + 1
            require_everywhere(own, at, rule, "a step is taken on the worker's own copy")
        require_steps_after_adds(schedule, rule)
        commits = np.flatnonzero((rows.op == Op.ADD) & (rows.message >= 0))
        require_everywhere(rows.replica[commits] == 0, commits, rule, "a commit goes to the server")
        put = np.flatnonzero((rows.op == Op.PUT) & (rows.job >= 0))
        require_everywhere(rows.weight[put] == self.weight, put, rule, "steps weigh the same")
        size = np.bincount(rows.message[put], minlength=len(schedule.messages))
        whole = size[rows.message[commits]] == self.window
        require_everywhere(whole, commits, rule, f"a commit holds {self.window} steps")
        pulls = np.flatnonzero((rows.op == Op.PUT) & (rows.job < 0))
        require_everywhere(rows.replica[pulls] == 0, pulls, rule, "a pull copies the server")
        mixes = np.flatnonzero(rows.op == Op.MIX)
        require_everywhere(rows.keep[mixes] == 0, mixes, rule, "a pull replaces the copy")
        pulled = schedule.rows.message[pulls][~schedule.messages.in_flight[rows.message[pulls]]]
        once = np.array_equal(np.sort(rows.message[mixes]), np.sort(pulled))
        refuse_unless(once, rule, "a pull reaches one copy, once")


@final
class _Committer:
    """A worker: pull, some steps, commit, and again."""

    __slots__ = (
        "_arrived",
        "_commit",
        "_computed",
        "_down",
        "_job",
        "_jobs",
        "_protocol",
        "_pull",
        "_pulled",
        "_seconds",
        "_simulation",
        "_up",
        "_worker",
    )  # fmt: skip

    def __init__(self, simulation: Simulation, worker: int, protocol: LocalStepsServer) -> None:
        self._simulation, self._worker, self._protocol = simulation, worker, protocol
        payload = simulation.payload
        self._seconds = simulation.computation(worker)
        self._down = simulation.transfer(SERVER, worker, payload.model_bytes)
        self._up = simulation.transfer(worker, SERVER, payload.update_bytes)
        self._pulled = Alarm(simulation.env, self._on_pulled)
        self._computed = Alarm(simulation.env, self._on_computed)
        self._arrived = Alarm(simulation.env, self._on_arrived)
        self._commit = self._pull = self._job = ABSENT
        self._jobs: list[int] = []

    def pull(self) -> None:
        simulation, now = self._simulation, self._simulation.env.now
        if not simulation.admit(now, self._protocol.window):
            return
        self._pull = simulation.record.message()
        simulation.record.put(self._pull, replica=0)
        self._pulled.set(self._down(now))

    def _on_pulled(self, event: simpy.Event) -> None:
        record = self._simulation.record
        record.mix(self._worker + 1, self._pull, keep=0.0)
        record.drop(message=self._pull)
        self._commit = ABSENT
        self._jobs = []
        self._begin()

    def _begin(self) -> None:
        record, now = self._simulation.record, self._simulation.env.now
        self._job = record.job(self._worker)
        self._jobs.append(self._job)
        record.read(self._job, self._worker + 1)
        record.gradient(self._job)
        record.begin(self._job, now)
        self._computed.set(self._seconds(now))

    def _on_computed(self, event: simpy.Event) -> None:
        record, replica = self._simulation.record, self._worker + 1
        record.encode(self._job)
        record.add(replica, job=self._job)
        record.step(replica)
        if self._commit == ABSENT:
            self._commit = record.message()
        record.put(self._commit, job=self._job, weight=self._protocol.weight)
        if len(self._jobs) < self._protocol.window:
            self._begin()
        else:
            self._arrived.set(self._up(self._simulation.env.now))

    def _on_arrived(self, event: simpy.Event) -> None:
        record = self._simulation.record
        record.add(0, message=self._commit)
        record.step(0)
        record.drop(message=self._commit)
        for job in self._jobs:
            record.drop(job=job, share=self._protocol.weight)
        self.pull()
