"""Elastic averaging with a centre, in rounds: EASGD."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, SERVER, Op
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.network.channel import Channel
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.elastic_averaging import Order
from elastic_consistency.simulator.protocols.fault_restatement import require_lives
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
@dataclass(frozen=True, slots=True)
class ElasticAveraging(AbstractUnreliableProtocol):
    """All workers compute, then all of them and the centre move towards each other at once.

    Each worker moves by `elasticity` of its distance to the centre, the centre by `elasticity`
    of the sum of the distances. Replica 0 is the centre; worker k steps on replica k + 1.

    A round is of those who are there as it begins, less those who crash before its end. A replica
    is as durable as a checkpoint: who comes back goes on from its own, in the next round.

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
        self.restate_with_faults(schedule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "elastic averaging", schedule.rows, schedule.jobs
        n = schedule.metadata.n_workers
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX, Op.CRASH), rule)
        found = require_lives(schedule, APPLIED_ALONE, rule)
        require_steps_after_adds(schedule, rule)
        share = jobs.share[found[:, 3] >= 0]
        equal = np.isnan(share) | (share == 1 / (n + 1))
        refuse_unless(bool(equal.all()), rule, "a share is 1/(n + 1)")
        for column in (0, 3):
            at = found[:, column][found[:, column] >= 0]
            own = rows.replica[at] == jobs.worker[rows.job[at]] + 1
            require_everywhere(own, at, rule, "a worker reads and steps on its own replica")
        self._require_exchanges(schedule, rule)
        for job in np.flatnonzero(found[:, 3] >= 0):
            life = slice(found[job, 0], found[job, 3])
            own = rows.replica[life] == jobs.worker[job] + 1
            mixed = int(((rows.op[life] == Op.MIX) & own).sum())
            fits = mixed == (self.order is Order.EXCHANGE_THEN_STEP)
            row = int(found[job, 3])
            refuse_unless(fits, rule, f"the order is {self.order.value}", row=row)

    def _require_exchanges(self, schedule, rule: str) -> None:
        """The centre meets all members of a round at once, and they meet what it was before."""
        rows, a = schedule.rows, self.elasticity
        put, left = np.flatnonzero(rows.op == Op.PUT), np.flatnonzero(rows.op == Op.MIX)
        while len(left):
            row = int(left[0])
            refuse_unless(rows.replica[row] == 0, rule, "the centre moves first", row=row)
            met = rows.replica[put[rows.message[put] == rows.message[row]]]
            kept = max(0.0, 1 - len(met) * a)
            answer = rows.op[row - 1] == Op.PUT and rows.replica[row - 1] == 0
            refuse_unless(bool(answer), rule, "the centre answers with what it was", row=row)
            group, left = left[: len(met) + 1], left[len(met) + 1 :]
            whole = np.array_equal(rows.replica[group], [0, *sorted(met)])
            refuse_unless(whole, rule, "everybody moves once a round, the centre first", row=row)
            answers = rows.message[group[1:]] == rows.message[row - 1]
            require_everywhere(answers, group[1:], rule, "a worker moves towards the centre")
            moved = rows.keep[group] == [kept, *[1 - a] * len(met)]
            moved &= rows.weight[group] == a
            require_everywhere(moved, group, rule, "by the elasticity")


@final
class _Rounds:
    """The rounds of one run."""

    __slots__ = ("_down", "_has_begun", "_jobs", "_late", "_lifetimes", "_on_way",
                 "_processors", "_protocol", "_ready", "_round", "_simulation", "_sum",
                 "_up")  # fmt: skip

    def __init__(self, simulation: Simulation, protocol: ElasticAveraging) -> None:
        self._simulation, self._protocol = simulation, protocol
        workers, n_bytes = range(simulation.cluster.n_workers), simulation.model_bytes
        self._up = [simulation.channel(w, SERVER, n_bytes) for w in workers]
        self._down = [simulation.channel(SERVER, w, n_bytes) for w in workers]
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._late = protocol.order is Order.STEP_THEN_EXCHANGE
        self._lifetimes = Lifetimes(simulation, self._start, self._stop, self._after_crash)
        self._jobs: dict[int, int] = {}  # of the members of the round
        self._ready: list[int] = []  # members whose replica is in the sum
        self._round, self._sum = -1, ABSENT
        self._on_way = 0
        self._has_begun = False

    def begin(self) -> None:
        self._lifetimes.begin()
        self._has_begun = True
        self._next_round()

    def _start(self, worker: int) -> None:
        if self._has_begun and not self._jobs and not self._on_way:
            self._next_round()
        elif self._has_begun:
            members = tuple(self._jobs)
            self._simulation.waits[worker] = Wait(worker, members, "the next round")

    def _stop(self, worker: int) -> None:
        if worker not in self._jobs:
            return
        job = self._jobs.pop(worker)
        if worker not in self._ready:
            self._processors[worker].cancel()
        if worker not in self._ready or not self._late:
            self._simulation.record.drop(job=job, share=0.0)

    def _after_crash(self, worker: int) -> None:
        if worker in self._ready:
            self._ready.remove(worker)
            self._simulation.record.drop(message=self._sum)
            self._sum = ABSENT
            for other in self._ready:
                self._add_to_sum(other)
        if not self._on_way:
            self._exchange_if_complete()

    def _next_round(self) -> None:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        members = [worker for worker, up in enumerate(self._lifetimes.is_up) if up]
        self._jobs, self._ready, self._sum = {}, [], ABSENT
        if not members or not simulation.admit(now, len(members)):
            return
        self._round += 1
        self._jobs = {worker: record.job(worker, round=self._round) for worker in members}
        for worker, job in self._jobs.items():
            simulation.waits.pop(worker, None)
            record.read(job, worker + 1)
            record.gradient(job)
            record.begin(job, now)
            self._processors[worker].start()

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            self._simulation.record.encode(self._jobs[worker])
            if self._late:
                self._step(worker)
            self._add_to_sum(worker)
            self._ready.append(worker)
            self._exchange_if_complete()

        return finished

    def _add_to_sum(self, worker: int) -> None:
        if self._sum == ABSENT:
            self._sum = self._simulation.record.message()
        self._simulation.record.put(self._sum, replica=worker + 1)

    def _exchange_if_complete(self) -> None:
        if not self._jobs:
            self._next_round()
        elif len(self._ready) == len(self._jobs):
            self._exchange(self._up, self._on_gathered)

    def _exchange(self, channels: list[Channel], done: Callable[[], None]) -> None:
        """Send over all channels at once; `done` is called when the last has arrived."""
        self._on_way = len(self._jobs)

        def arrived() -> None:
            self._on_way -= 1
            if self._on_way == 0:
                done()

        for worker in self._jobs:
            channels[worker].send(arrived)

    def _on_gathered(self) -> None:
        if self._jobs:
            self._exchange(self._down, self._on_spread)
        else:
            self._next_round()

    def _on_spread(self) -> None:
        record, a = self._simulation.record, self._protocol.elasticity
        if self._jobs:
            answer = record.message()
            record.put(answer, replica=0)
            record.mix(0, self._sum, weight=a, keep=max(0.0, 1 - len(self._jobs) * a))
            for worker in self._jobs:
                record.mix(worker + 1, answer, weight=a, keep=1 - a)
            record.drop(message=self._sum)
            record.drop(message=answer)
        if not self._late:
            for worker in self._jobs:
                self._step(worker)
        self._next_round()

    def _step(self, worker: int) -> None:
        record, job = self._simulation.record, self._jobs[worker]
        record.add(worker + 1, job=job)
        record.step(worker + 1)
        record.drop(job=job, share=1 / len(self._simulation.metadata.hosts))
