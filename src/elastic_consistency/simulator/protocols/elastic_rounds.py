"""Rounds of an all-reduce whose members change: crashes, restarts and late starts."""

from collections.abc import Callable
from enum import Enum, auto
from typing import final

import simpy

from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.collectives import AbstractCollective, collective_seconds
from elastic_consistency.simulator.lifetimes import Lifetimes
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


class _Phase(Enum):
    IDLE = auto()
    COPYING = auto()  # the model to newcomers
    COMPUTING = auto()
    REDUCING = auto()


@final
class ElasticRounds:
    """A round is of those who are there as it begins, less those who crash before its end.

    With c of them left at the end, weights and shares are 1/c. A crash during the all-reduce
    begins it anew among the others. Who comes waits for the next round, which begins when the
    first member has sent a copy of the model to each newcomer; before the first step everybody
    has the same model already, and nothing is copied.

    Args:
        simulation: The run.
        collective: Algorithm of the all-reduce.
    """

    __slots__ = ("_collective", "_copied", "_encoded", "_has_begun", "_has_stepped", "_jobs",
                 "_lifetimes", "_members", "_newcomers", "_phase", "_processors", "_reduced",
                 "_round", "_simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, collective: AbstractCollective) -> None:
        self._simulation, self._collective = simulation, collective
        workers = range(simulation.cluster.n_workers)
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._reduced = Alarm(simulation.env, self._on_reduced)
        self._copied = Alarm(simulation.env, self._on_copied)
        self._lifetimes = Lifetimes(simulation, self._start, self._stop, self._after_crash)
        self._members: list[int] = []  # who is there and has the present model, ascending
        self._newcomers: list[int] = []  # who is there and has not
        self._jobs: dict[int, int] = {}  # of the present round, by worker
        self._encoded: set[int] = set()
        self._phase, self._round = _Phase.IDLE, -1
        self._has_begun = self._has_stepped = False

    def begin(self) -> None:
        """Everybody who is there begins the first round."""
        self._lifetimes.begin()
        self._has_begun = True
        self._next_round()

    def _start(self, worker: int) -> None:
        if not self._has_stepped and self._phase is _Phase.IDLE:
            self._members = sorted([*self._members, worker])
        else:
            self._newcomers = sorted([*self._newcomers, worker])
            whom = tuple(self._members)
            self._simulation.waits[worker] = Wait(worker, whom, "the model and the next round")
        if self._has_begun and self._phase is _Phase.IDLE:
            self._next_round()

    def _stop(self, worker: int) -> None:
        if worker in self._newcomers:
            self._newcomers.remove(worker)
            return
        self._members.remove(worker)
        if worker in self._jobs:
            if worker not in self._encoded:
                self._processors[worker].cancel()
            self._encoded.discard(worker)
            self._simulation.record.drop(job=self._jobs.pop(worker), share=0.0)

    def _after_crash(self, worker: int) -> None:
        if self._phase is _Phase.REDUCING:
            self._reduced.cancel()
            self._phase = _Phase.COMPUTING
        if self._phase is _Phase.COMPUTING and not self._members:
            self._phase = _Phase.IDLE
            self._next_round()
        elif self._phase is _Phase.COMPUTING:
            self._reduce_if_complete()

    def _next_round(self) -> None:
        simulation, network = self._simulation, self._simulation.network
        if simulation.refused:
            return
        if not self._has_stepped:
            self._welcome(self._newcomers)
        if self._newcomers and self._members:
            self._phase = _Phase.COPYING
            donor, n_bytes = self._members[0], simulation.payload.model_bytes
            self._copied.set(max(network.seconds(donor, w, n_bytes) for w in self._newcomers))
        else:
            self._begin_round()

    def _on_copied(self, event: simpy.Event) -> None:
        record = self._simulation.record
        if self._members and self._newcomers:
            message = record.message()
            record.put(message, replica=self._members[0])
            for worker in self._newcomers:
                record.mix(worker, message, keep=0.0)
            record.drop(message=message)
            self._welcome(self._newcomers)
        self._begin_round()

    def _welcome(self, newcomers: list[int]) -> None:
        for worker in newcomers:
            self._simulation.waits.pop(worker, None)
        self._members = sorted([*self._members, *newcomers])
        self._newcomers = []

    def _begin_round(self) -> None:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        self._phase = _Phase.IDLE
        # Without members the model is lost, and nobody can go on: that is a stall.
        if not self._members or not simulation.admit(now, len(self._members)):
            return
        self._phase = _Phase.COMPUTING
        self._round += 1
        self._encoded = set()
        self._jobs = {worker: record.job(worker, round=self._round) for worker in self._members}
        for worker, job in self._jobs.items():
            record.read(job, worker)
            record.gradient(job)
            record.begin(job, now)
            self._processors[worker].start()

    def _finished_by(self, worker: int) -> Callable[[simpy.Event], None]:
        def finished(event: simpy.Event) -> None:
            self._simulation.record.encode(self._jobs[worker])
            self._encoded.add(worker)
            self._reduce_if_complete()

        return finished

    def _reduce_if_complete(self) -> None:
        if len(self._encoded) < len(self._jobs):
            return
        self._phase = _Phase.REDUCING
        network = self._simulation.network.among(tuple(self._jobs))
        n_bytes = self._simulation.payload.update_bytes
        self._reduced.set(collective_seconds(self._collective, network, n_bytes))

    def _on_reduced(self, event: simpy.Event) -> None:
        record, share = self._simulation.record, 1 / len(self._jobs)
        message = record.message()
        for job in self._jobs.values():
            record.put(message, job=job, weight=share)
        for worker in self._jobs:
            record.add(worker, message=message)
            record.step(worker)
        record.drop(message=message)
        for job in self._jobs.values():
            record.drop(job=job, share=share)
        self._jobs, self._has_stepped = {}, True
        self._phase = _Phase.IDLE
        self._next_round()
