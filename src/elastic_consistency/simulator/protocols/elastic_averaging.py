"""Elastic averaging with a centre, asynchronously: AEASGD."""

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, SERVER, Op
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.fault_restatement import lost_in_crash, require_lives
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
)
from elastic_consistency.simulator.simulation import Simulation


class Order(Enum):
    """What comes first; the two have different limits of stability."""

    #: Gradient at the point before the exchange, exchange, step.
    EXCHANGE_THEN_STEP = "exchange then step"
    #: Gradient, step, exchange: the order of Hermans' thesis.
    STEP_THEN_EXCHANGE = "step then exchange"


@final
@dataclass(frozen=True, slots=True)
class AsynchronousElasticAveraging(AbstractUnreliableProtocol):
    """Worker and centre move towards each other by `elasticity` of their distance.

    Replica 0 is the centre, at the server; worker k steps on replica k + 1. An exchange leaves
    the sum of the two unchanged, so the auxiliary sequence is the mean of all n + 1 replicas.
    On a quadratic of curvature 1 with one worker and step size e the exchange-then-step order
    is stable for elasticity up to (4 - 2e) / (4 - e).

    A replica is as durable as a checkpoint: who comes back after a crash goes on from its own,
    after the answer of the centre if it has asked before.

    Attributes:
        elasticity: a, part of the distance that both move, in (0, 1].
        period: Steps between two exchanges, >= 1.
        order: What comes first in a step with an exchange.

    Source: Zhang, Choromanska, LeCun (2015), arXiv:1412.6651, Algorithm 1.
    """

    elasticity: float
    period: int = 1
    order: Order = Order.EXCHANGE_THEN_STEP

    def __post_init__(self) -> None:
        check(0 < self.elasticity <= 1, self, "elasticity", "a number in (0, 1]")
        check(self.period >= 1, self, "period", "a number of steps >= 1")

    def hosts(self, cluster):
        return (SERVER, *range(cluster.n_workers))

    def start(self, simulation):
        workers: list[_Elastic] = []
        lifetimes = Lifetimes(
            simulation, lambda worker: workers[worker].start(), lambda worker: workers[worker].die()
        )
        n = simulation.cluster.n_workers
        workers.extend(_Elastic(simulation, worker, self, lifetimes) for worker in range(n))
        lifetimes.begin()

    def restate(self, schedule):
        self.restate_with_faults(schedule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "elastic averaging", schedule.rows, schedule.jobs
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX, Op.CRASH), rule)
        found = require_lives(schedule, APPLIED_ALONE, rule)
        for column in (0, 3):
            at = found[:, column][found[:, column] >= 0]
            own = rows.replica[at] == jobs.worker[rows.job[at]] + 1
            require_everywhere(own, at, rule, "a worker reads and steps on its own replica")
        require_steps_after_adds(schedule, rule)
        share = jobs.share[found[:, 3] >= 0]
        equal = np.isnan(share) | (share == 1 / len(schedule.metadata.hosts))
        refuse_unless(bool(equal.all()), rule, "a share is 1/(n + 1)")
        mixes = np.flatnonzero(rows.op == Op.MIX)
        keeps = (rows.weight[mixes] == self.elasticity) & (rows.keep[mixes] == 1 - self.elasticity)
        require_everywhere(keeps, mixes, rule, "both move by the elasticity")
        _require_pairs(schedule, mixes, rule)
        self._require_order(schedule, found, rule)

    def _require_order(self, schedule, found: np.ndarray, rule: str) -> None:
        """Exchanges of a worker lie where period and order put them."""
        rows, jobs = schedule.rows, schedule.jobs
        late = self.order is Order.STEP_THEN_EXCHANGE
        computed = found[:, 2] >= 0
        lost = lost_in_crash(schedule)
        for worker in range(schedule.metadata.n_workers):
            # Steps are counted as they are computed; a lost one may have asked for an exchange.
            own = np.flatnonzero((jobs.worker == worker) & computed & ((found[:, 3] >= 0) | lost))
            done = np.flatnonzero((rows.op == Op.MIX) & (rows.replica == worker + 1))
            number = np.arange(len(own)) + (0 if late else 1)
            applied = found[own, 3] >= 0
            add = found[own, 3][applied]
            exchanges = np.searchsorted(done, add)  # before each ADD of this worker
            expected = number[applied] // self.period
            message = "an exchange comes after so many steps"
            require_everywhere(exchanges == expected, add, rule, message)


def _require_pairs(schedule, mixes: np.ndarray, rule: str) -> None:
    """Every message of the centre is made in the exchange in which a worker's arrives."""
    rows = schedule.rows
    put = np.flatnonzero(rows.op == Op.PUT)
    source = dict(zip(rows.message[put].tolist(), rows.replica[put].tolist(), strict=True))
    for row in mixes:
        donor, taker = source[int(rows.message[row])], int(rows.replica[row])
        refuse_unless((donor == 0) != (taker == 0), rule, "worker and centre meet", row=int(row))
    at_centre = mixes[rows.replica[mixes] == 0]
    before = (rows.op[at_centre - 1] == Op.PUT) & (rows.replica[at_centre - 1] == 0)
    require_everywhere(before, at_centre, rule, "the centre answers with what it was before")


@final
class _Elastic:
    """One worker and its meetings with the centre."""

    __slots__ = ("_answer", "_down", "_is_asking", "_is_computing", "_job", "_lifetimes",
                 "_processor", "_protocol", "_request", "_simulation", "_steps", "_up",
                 "_worker")  # fmt: skip

    def __init__(
        self,
        simulation: Simulation,
        worker: int,
        protocol: AsynchronousElasticAveraging,
        lifetimes: Lifetimes,
    ) -> None:
        self._simulation, self._worker, self._protocol = simulation, worker, protocol
        self._lifetimes = lifetimes
        self._is_asking = self._is_computing = False
        n_bytes = simulation.model_bytes
        self._up = simulation.channel(worker, SERVER, n_bytes)
        self._down = simulation.channel(SERVER, worker, n_bytes)
        self._processor = simulation.processor(worker, self._on_computed)
        self._job = self._request = self._answer = -1
        self._steps = 0

    def start(self) -> None:
        """Begin, unless an answer from before a crash is still to come, or came first."""
        if not (self._is_asking or self._is_computing):
            self._begin()

    def die(self) -> None:
        """Lose the job that is not yet applied; an exchange goes on."""
        if self._is_computing:
            self._is_computing = False
            self._processor.cancel()
        if self._job != ABSENT:
            self._simulation.record.drop(job=self._job, share=0.0)
            self._job = ABSENT

    def _begin(self) -> None:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        if not simulation.admit(now):
            return
        self._job = record.job(self._worker)
        record.read(self._job, self._worker + 1)
        record.gradient(self._job)
        record.begin(self._job, now)
        self._is_computing = True
        self._processor.start()

    def _on_computed(self, event: simpy.Event) -> None:
        self._is_computing = False
        self._simulation.record.encode(self._job)
        self._steps += 1
        if self._protocol.order is Order.STEP_THEN_EXCHANGE:
            self._step()
        if self._steps % self._protocol.period == 0:
            self._ask()
        else:
            self._go_on()

    def _ask(self) -> None:
        simulation = self._simulation
        self._is_asking = True
        self._request = simulation.record.message()
        simulation.record.put(self._request, replica=self._worker + 1)
        self._up.send(self._on_arrived)

    def _on_arrived(self) -> None:
        record, a = self._simulation.record, self._protocol.elasticity
        self._answer = record.message()
        record.put(self._answer, replica=0)
        record.mix(0, self._request, weight=a, keep=1 - a)
        record.drop(message=self._request)
        self._down.send(lambda: self._lifetimes.deliver(self._worker, self._on_answered))

    def _on_answered(self) -> None:
        record, a = self._simulation.record, self._protocol.elasticity
        record.mix(self._worker + 1, self._answer, weight=a, keep=1 - a)
        record.drop(message=self._answer)
        self._is_asking = False
        self._go_on()

    def _go_on(self) -> None:
        if self._protocol.order is Order.EXCHANGE_THEN_STEP and self._job != ABSENT:
            self._step()
        self._begin()

    def _step(self) -> None:
        record, replicas = self._simulation.record, len(self._simulation.metadata.hosts)
        record.add(self._worker + 1, job=self._job)
        record.step(self._worker + 1)
        record.drop(job=self._job, share=1 / replicas)
        self._job = ABSENT
