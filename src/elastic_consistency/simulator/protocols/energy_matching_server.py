"""The server of gradient energy matching: a worker pulls again before it commits."""

from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency.schedule import ABSENT, SERVER, Op, Schedule
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class EnergyMatchingServer(AbstractProtocol):
    """Gradient at s, pull theta, commit what the motion theta - s asks for, s = theta.

    The pull leaves the server when the gradient is ready; the commit leaves the worker when the
    pull is in, and the next computation begins at the same time. Rules see the view as s and
    the pull as `latest`. With `ahead`, as in the authors' program, the next gradient is taken at
    theta plus the worker's own commit, which lives on replica w + 1; else at theta itself, as
    printed. A last pull that no computation follows, and every pull of `ahead`, is a job without
    a gradient, of share 0; it does not count towards the limit.

    Attributes:
        ahead: Whether a worker computes at its pull plus its own commit.

    Source: Hermans, Louppe (2018), arXiv:1805.08469, algorithm 1, and the authors' program.
    """

    ahead: bool = False

    def hosts(self, cluster):
        return (SERVER, *range(cluster.n_workers)) if self.ahead else (SERVER,)

    def start(self, simulation):
        for worker in range(simulation.cluster.n_workers):
            _Matcher(simulation, worker, ahead=self.ahead).begin()

    def restate(self, schedule):
        rule, rows, jobs = "energy matching", schedule.rows, schedule.jobs
        ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.STEP, Op.DROP)
        require_only(schedule, (*ops, Op.PUT, Op.MIX) if self.ahead else ops, rule)
        at = np.flatnonzero(rows.op == Op.GRADIENT)
        computes = np.zeros(len(jobs), bool)
        computes[rows.job[at]] = True
        ended = ~np.isnan(jobs.share)
        sound = (jobs.share == computes)[ended]
        refuse_unless(bool(sound.all()), rule, "a share is 1, or 0 of a mere pull")
        read = np.flatnonzero(rows.op == Op.READ)
        own = rows.worker[read] + 1 if self.ahead else np.zeros(len(read))
        place = np.where(computes[rows.job[read]], own, 0)
        require_everywhere(rows.replica[read] == place, read, rule, "where a worker reads")
        add = np.flatnonzero(rows.op == Op.ADD)
        step = (np.append(rows.op, -1)[add + 1] == Op.STEP) & (rows.weight[add] == 1)
        require_everywhere(step, add, rule, "an update is applied at once, with weight 1")
        homes = (rows.replica[add] == 0) | (rows.replica[add] == rows.worker[add] + 1)
        require_everywhere(homes, add, rule, "an update goes to the server and to its worker")
        _require_fresh_pulls(schedule, rule)


def _require_fresh_pulls(schedule: Schedule, rule: str) -> None:
    """Between the gradient of a job and its commit lies exactly one pull of its worker."""
    rows, n = schedule.rows, schedule.metadata.n_workers
    pulls, since = [0] * n, {}
    for row in range(len(rows)):
        op, worker, job = rows.op[row], int(rows.worker[row]), int(rows.job[row])
        if op == Op.READ and rows.replica[row] == 0:
            pulls[worker] += 1
        elif op == Op.GRADIENT:
            since[job] = pulls[worker]
        elif op == Op.ENCODE:
            fresh = pulls[worker] - since[job] == 1
            refuse_unless(fresh, rule, "a worker pulls once before it commits", row=row)


@final
class _Matcher:
    """One worker: compute, pull, commit, and again."""

    __slots__ = ("_ahead", "_down", "_goes_on", "_job", "_message", "_next", "_processor",
                 "_replica", "_simulation", "_up", "_worker")  # fmt: skip

    def __init__(self, simulation: Simulation, worker: int, *, ahead: bool) -> None:
        self._simulation, self._worker, self._ahead = simulation, worker, ahead
        self._replica = worker + 1 if ahead else 0
        self._down = simulation.channel(SERVER, worker, simulation.model_bytes)
        self._up = simulation.channel(worker, SERVER, simulation.update_bytes)
        self._processor = simulation.processor(worker, self._on_computed)
        self._job = self._next = self._message = ABSENT
        self._goes_on = True

    def begin(self) -> None:
        if self._simulation.admit(self._simulation.env.now):
            self._job = self._read_for_gradient()
            self._compute()

    def _read_for_gradient(self) -> int:
        record = self._simulation.record
        job = record.job(self._worker)
        record.read(job, self._replica)
        record.gradient(job)
        return job

    def _compute(self) -> None:
        self._simulation.record.begin(self._job, self._simulation.env.now)
        self._processor.start()

    def _on_computed(self, event: simpy.Event) -> None:
        """The model leaves the server."""
        simulation, record = self._simulation, self._simulation.record
        self._goes_on = simulation.admit(simulation.env.now)
        if self._goes_on and not self._ahead:
            self._next = self._read_for_gradient()
        else:
            self._next = record.job(self._worker)
            record.read(self._next, 0)
        if self._ahead:
            self._message = record.message()
            record.put(self._message, replica=0)
        if self._down.passes_at_once(self._on_pulled):
            self._on_pulled()

    def _on_pulled(self) -> None:
        """The model is here: commit, and compute again."""
        record, job = self._simulation.record, self._job
        record.encode(job)
        at_once = self._up.passes_at_once(lambda: apply_alone(self._simulation, job))
        if self._ahead:
            self._step_ahead(job, commit=at_once)
        elif at_once:
            apply_alone(self._simulation, job)
        if self._ahead or not self._goes_on:
            record.drop(job=self._next, share=0.0)
        if self._goes_on:
            self._job = self._read_for_gradient() if self._ahead else self._next
            self._compute()

    def _step_ahead(self, job: int, *, commit: bool) -> None:
        """The own replica becomes the pull plus the own commit."""
        record, replica = self._simulation.record, self._replica
        if commit:
            record.add(0, job=job)
            record.step(0)
        record.mix(replica, self._message, keep=0.0)
        record.drop(message=self._message)
        record.add(replica, job=job)
        record.step(replica)
        if commit:
            record.drop(job=job, share=1.0)
