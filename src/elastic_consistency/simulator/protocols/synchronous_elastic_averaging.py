"""Elastic averaging with a centre, in rounds: EASGD."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, SERVER, Op
from elastic_consistency.simulator.channel import Channel
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.elastic_averaging import Order
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
class ElasticAveraging(AbstractProtocol):
    """All workers compute, then all of them and the centre move towards each other at once.

    Each worker moves by `elasticity` of its distance to the centre, the centre by `elasticity`
    of the sum of the distances. Replica 0 is the centre; worker k steps on replica k + 1.

    Attributes:
        elasticity: a, in (0, 1]; at most 1/n, so that the centre does not overshoot.
        order: Whether the exchange or the step comes first.

    Source: Zhang, Choromanska, LeCun (2015), arXiv:1412.6651, equations 5 and 6.
    """

    elasticity: float
    order: Order = Order.EXCHANGE_THEN_STEP

    def __post_init__(self) -> None:
        check(0 < self.elasticity <= 1, self, "elasticity", "a number in (0, 1]")

    def hosts(self, cluster):
        limit = 1 / cluster.n_workers
        check(self.elasticity <= limit, self, "elasticity", f"at most 1/n = {limit:g}")
        return (SERVER, *range(cluster.n_workers))

    def start(self, simulation):
        _Rounds(simulation, self).begin()

    def restate(self, schedule):
        rule, rows, jobs = "elastic averaging", schedule.rows, schedule.jobs
        n, a = schedule.metadata.n_workers, self.elasticity
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX), rule)
        found = rows_of_jobs(schedule, APPLIED_ALONE, rule)
        require_steps_after_adds(schedule, rule)
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == 1 / (n + 1)).all()), rule, "a share is 1/(n + 1)")
        own = rows.replica[found[:, 0]] == jobs.worker + 1
        require_everywhere(own, found[:, 0], rule, "a worker reads its own replica")
        mixes = np.flatnonzero(rows.op == Op.MIX)
        turn = rows.replica[mixes] == np.arange(len(mixes)) % (n + 1)
        require_everywhere(turn, mixes, rule, "everybody moves once a round, the centre first")
        centre = rows.replica[mixes] == 0
        kept = np.where(centre, max(0.0, 1 - n * a), 1 - a)
        moved = (rows.keep[mixes] == kept) & (rows.weight[mixes] == a)
        require_everywhere(moved, mixes, rule, "by the elasticity")
        add = np.flatnonzero(rows.op == Op.ADD)
        mixed = np.cumsum(rows.op == Op.MIX)[add] // (n + 1)
        late = self.order is Order.STEP_THEN_EXCHANGE
        expected = jobs.round[rows.job[add]] + (0 if late else 1)
        require_everywhere(mixed == expected, add, rule, f"the order is {self.order.value}")


@final
class _Rounds:
    """The rounds of one run."""

    __slots__ = ("_down", "_jobs", "_late", "_missing", "_on_way", "_processors",
                 "_protocol", "_round", "_simulation", "_sum", "_up")  # fmt: skip

    def __init__(self, simulation: Simulation, protocol: ElasticAveraging) -> None:
        self._simulation, self._protocol = simulation, protocol
        workers, n_bytes = range(simulation.cluster.n_workers), simulation.payload.model_bytes
        self._up = [simulation.channel(w, SERVER, n_bytes) for w in workers]
        self._down = [simulation.channel(SERVER, w, n_bytes) for w in workers]
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._late = protocol.order is Order.STEP_THEN_EXCHANGE
        self._jobs: list[int] = []
        self._missing, self._round, self._sum = 0, -1, ABSENT
        self._on_way = 0

    def begin(self) -> None:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        if not simulation.admit(now, len(self._processors)):
            return
        self._round += 1
        self._missing, self._sum = len(self._processors), ABSENT
        self._jobs = [record.job(w, round=self._round) for w in range(self._missing)]
        for worker, job in enumerate(self._jobs):
            record.read(job, worker + 1)
            record.gradient(job)
            record.begin(job, now)
            self._processors[worker].start()

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            record = self._simulation.record
            record.encode(self._jobs[worker])
            if self._late:
                self._step(worker)
            if self._sum == ABSENT:
                self._sum = record.message()
            record.put(self._sum, replica=worker + 1)
            self._missing -= 1
            if self._missing == 0:
                self._exchange(self._up, self._on_gathered)

        return finished

    def _exchange(self, channels: list[Channel], done: Callable[[], None]) -> None:
        """Send over all channels at once; `done` is called when the last has arrived."""
        self._on_way = len(channels)

        def arrived() -> None:
            self._on_way -= 1
            if self._on_way == 0:
                done()

        for channel in channels:
            channel.send(arrived)

    def _on_gathered(self) -> None:
        self._exchange(self._down, self._on_spread)

    def _on_spread(self) -> None:
        record, a, n = self._simulation.record, self._protocol.elasticity, len(self._jobs)
        answer = record.message()
        record.put(answer, replica=0)
        record.mix(0, self._sum, weight=a, keep=max(0.0, 1 - n * a))
        for worker in range(n):
            record.mix(worker + 1, answer, weight=a, keep=1 - a)
        record.drop(message=self._sum)
        record.drop(message=answer)
        if not self._late:
            for worker in range(n):
                self._step(worker)
        self.begin()

    def _step(self, worker: int) -> None:
        record, job = self._simulation.record, self._jobs[worker]
        record.add(worker + 1, job=job)
        record.step(worker + 1)
        record.drop(job=job, share=1 / len(self._simulation.metadata.hosts))
