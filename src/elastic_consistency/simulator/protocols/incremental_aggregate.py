"""PIAG: every step takes the mean of the latest gradients of all workers."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule import SERVER, Op
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class IncrementalAggregate(AbstractUnreliableProtocol):
    """The server keeps the latest gradient of each worker and steps with the mean of them all.

    A gradient takes part in every step until its worker sends the next one, so its share is
    the number of those steps over n. The first step waits until everybody has sent one.

    Source: Aytekin, Feyzmahdavian, Johansson (2016), arXiv:1610.05507 (without a proximal term).
    """

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        _Table(simulation).begin()

    def restate(self, schedule):
        rule, rows, jobs = "incremental aggregate", schedule.rows, schedule.jobs
        n = schedule.metadata.n_workers
        ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.STEP, Op.DROP, Op.CRASH)
        require_only(schedule, ops, rule)
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1 / n, add, rule, "a gradient weighs 1/n")
        steps = np.flatnonzero(rows.op == Op.STEP)
        refuse_unless(len(add) == n * len(steps), rule, "a step takes n gradients")
        turn = jobs.worker[rows.job[add]] == np.arange(len(add)) % n
        require_everywhere(turn, add, rule, "one of each worker, in order")
        together = add.reshape(-1, n)[:, -1] + 1 == steps
        require_everywhere(together, steps, rule, "a step follows its gradients at once")
        encoded = np.full(len(jobs), -1)
        at = np.flatnonzero(rows.op == Op.ENCODE)
        encoded[rows.job[at]] = at
        used = rows.job[add].reshape(-1, n)
        forward = np.diff(used, axis=0) >= 0
        refuse_unless(bool(forward.all()), rule, "a gradient is never replaced by an older one")
        moved = (np.diff(used, axis=0) > 0).sum(axis=1) == 1
        refuse_unless(bool(moved.all()), rule, "a step follows each arrival")
        share = np.bincount(rows.job[add], minlength=len(jobs)) / n
        ended = ~np.isnan(jobs.share)
        exact = jobs.share[ended] == share[ended]
        refuse_unless(bool(exact.all()), rule, "a share is the number of steps over n")

    def restate_with_faults(self, schedule):
        self.restate(schedule)


@final
class _Table:
    """The server's table of latest gradients."""

    __slots__ = ("_crew", "_latest", "_simulation", "_uses")

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._crew = Crew(simulation, self._arrived, lambda client: client.read())
        self._latest: dict[int, int] = {}
        self._uses: dict[int, int] = {}
        simulation.settle = self._drop_all

    def begin(self) -> None:
        self._crew.begin()

    def _arrived(self, client: AnyClient) -> None:
        record, n = self._simulation.record, len(self._crew.clients)
        if client.job < self._latest.get(client.worker, client.job):
            # It was sent before a crash, and has been overtaken by what was sent after it.
            record.drop(job=client.job, share=0.0)
            client.read()
            return
        self._drop(client.worker)
        self._latest[client.worker] = client.job
        self._uses[client.job] = 0
        if len(self._latest) == n:
            for worker in range(n):
                job = self._latest[worker]
                record.add(0, job=job, weight=1 / n)
                self._uses[job] += 1
            record.step(0)
        client.read()

    def _drop(self, worker: int) -> None:
        job = self._latest.pop(worker, None)
        if job is not None:
            share = self._uses.pop(job) / len(self._crew.clients)
            self._simulation.record.drop(job=job, share=share)

    def _drop_all(self) -> None:
        for worker in range(len(self._crew.clients)):
            self._drop(worker)
