"""A server that is asked only every few steps: Downpour's window and its normalised form."""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, SERVER, Op, Schedule
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.network.channel import Transfer
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.fault_restatement import (
    has_faults,
    lost_in_crash,
)
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
class LocalStepsServer(AbstractUnreliableProtocol):
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
        workers = range(simulation.cluster.n_workers)
        committers = [_Committer(simulation, worker, self) for worker in workers]
        Lifetimes(
            simulation, lambda worker: committers[worker].pull(), lambda w: committers[w].die()
        ).begin()

    def restate(self, schedule):
        rule, rows, jobs = "local steps", schedule.rows, schedule.jobs
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        require_only(schedule, (*_LIFE, Op.STEP, Op.MIX), rule)
        rows_of_jobs(schedule, _LIFE, rule)
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == self.weight).all()), rule, "a share is the commit's weight")
        pulls = np.flatnonzero((rows.op == Op.PUT) & (rows.job < 0))
        mixes = np.flatnonzero(rows.op == Op.MIX)
        pulled = rows.message[pulls][~schedule.messages.in_flight[rows.message[pulls]]]
        once = np.array_equal(np.sort(rows.message[mixes]), np.sort(pulled))
        refuse_unless(once, rule, "a pull reaches one copy, once")
        self._require_windows(schedule, rule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "local steps", schedule.rows, schedule.jobs
        require_only(schedule, (*_LIFE, Op.STEP, Op.MIX, Op.CRASH), rule)
        died = lost_in_crash(schedule)
        ended = ~np.isnan(jobs.share)
        fits = jobs.share == np.where(died, 0.0, self.weight)
        refuse_unless(bool(fits[ended].all()), rule, "a share is the commit's weight, or 0 if lost")
        mixes = np.flatnonzero(rows.op == Op.MIX)
        once = len(np.unique(rows.message[mixes])) == len(mixes)
        refuse_unless(once, rule, "a pull reaches one copy, once")
        self._require_windows(schedule, rule)

    def _require_windows(self, schedule: Schedule, rule: str) -> None:
        """Steps on the worker's own copy, commits of whole windows, pulls of the server."""
        rows, jobs = schedule.rows, schedule.jobs
        alone = (rows.op == Op.READ) | ((rows.op == Op.ADD) & (rows.job >= 0))
        at = np.flatnonzero(alone)
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


@final
class _Committer:
    """A worker: pull, some steps, commit, and again; what is not yet sent can be lost."""

    __slots__ = ("_commit", "_down", "_is_computing", "_job", "_jobs", "_life", "_processor",
                 "_protocol", "_pull", "_simulation", "_transfer", "_up", "_worker")  # fmt: skip

    def __init__(self, simulation: Simulation, worker: int, protocol: LocalStepsServer) -> None:
        self._simulation, self._worker, self._protocol = simulation, worker, protocol
        self._processor = simulation.processor(worker, self._on_computed)
        self._down = simulation.channel(SERVER, worker, simulation.model_bytes)
        self._up = simulation.channel(worker, SERVER, simulation.update_bytes)
        self._commit = self._pull = self._job = ABSENT
        self._transfer: Transfer | None = None  # of the pull
        self._is_computing = False
        self._jobs: list[int] = []
        self._life = 0

    def pull(self) -> None:
        simulation = self._simulation
        if not simulation.admit(simulation.env.now, self._protocol.window):
            return
        self._pull = simulation.record.message()
        simulation.record.put(self._pull, replica=0)
        self._transfer = self._down.send(self._on_pulled)

    def die(self) -> None:
        """Lose what is not yet sent: the pull, or the steps of the window."""
        record, begun = self._simulation.record, self._is_computing
        self._life += 1
        if self._transfer is not None:
            self._transfer.cancel()
            self._transfer = None
            record.drop(message=self._pull)
        elif begun:
            self._processor.cancel()
            if self._commit != ABSENT:
                record.drop(message=self._commit)
            for job in self._jobs:
                record.drop(job=job, share=0.0)
        self._is_computing = False

    def _on_pulled(self) -> None:
        record = self._simulation.record
        self._transfer = None
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
        self._is_computing = True
        self._processor.start()

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
            return
        self._is_computing = False
        self._up.send(partial(self._on_arrived, self._commit, tuple(self._jobs), self._life))

    def _on_arrived(self, commit: int, jobs: tuple[int, ...], life: int) -> None:
        record = self._simulation.record
        record.add(0, message=commit)
        record.step(0)
        record.drop(message=commit)
        for job in jobs:
            record.drop(job=job, share=self._protocol.weight)
        if life == self._life:
            self.pull()
