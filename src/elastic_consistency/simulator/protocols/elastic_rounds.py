"""Rounds whose members change: crashes, restarts and late starts."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import final

import simpy

from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.network.collectives import (
    AbstractCollective,
    collective_seconds,
    copies_seconds,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


class _Phase(Enum):
    IDLE = auto()
    COPYING = auto()  # the model to newcomers
    COMPUTING = auto()
    REDUCING = auto()


class AbstractRoundWork(ABC):
    """What the members of a round compute, and what they reduce."""

    __slots__ = ()

    @abstractmethod
    def jobs_each(self) -> int:
        """Jobs of each member in a round."""

    @abstractmethod
    def n_bytes(self) -> float:
        """What each member brings to the all-reduce, bytes."""

    @abstractmethod
    def has_stepped(self) -> bool:
        """Whether any replica is no longer what all replicas are at first."""

    @abstractmethod
    def begin(self, worker: int, round: int, done: Callable[[], None]) -> None:
        """Begin the round of one member; `done` is called when it is ready for the all-reduce."""

    @abstractmethod
    def lose(self, worker: int) -> None:
        """Drop, without a share, what a member that is about to crash has done in the round."""

    @abstractmethod
    def reduce(self, workers: tuple[int, ...]) -> None:
        """Write the rows of an all-reduce among `workers`, and drop their jobs."""


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
        work: What the members do.
    """

    __slots__ = ("_collective", "_copied", "_has_begun", "_is_interrupted", "_lifetimes",
                 "_members", "_newcomers", "_phase", "_ready", "_reduced", "_round",
                 "_simulation", "_work", "_working")  # fmt: skip

    def __init__(
        self, simulation: Simulation, collective: AbstractCollective, work: AbstractRoundWork
    ) -> None:
        self._simulation, self._collective, self._work = simulation, collective, work
        self._reduced = Alarm(simulation.env, self._on_reduced)
        self._copied = Alarm(simulation.env, self._on_copied)
        self._lifetimes = Lifetimes(simulation, self._start, self._stop, self._after_crash)
        self._members: list[int] = []  # who is there and has the present model, ascending
        self._newcomers: list[int] = []  # who is there and has not
        self._working: list[int] = []  # who takes part in the present round
        self._ready: set[int] = set()  # who of them is ready for the all-reduce
        self._phase, self._round = _Phase.IDLE, -1
        self._has_begun = self._is_interrupted = False

    def begin(self) -> None:
        """Everybody who is there begins the first round."""
        self._lifetimes.begin()
        self._has_begun = True
        self._next_round()

    def _start(self, worker: int) -> None:
        if not self._work.has_stepped() and self._phase is _Phase.IDLE:
            self._members = sorted([*self._members, worker])
        else:
            self._newcomers = sorted([*self._newcomers, worker])
            whom = tuple(self._members)
            self._simulation.waits[worker] = Wait(worker, whom, "the model and the next round")
        if self._has_begun and self._phase is _Phase.IDLE:
            self._next_round()

    def _stop(self, worker: int) -> None:
        self._is_interrupted = worker in self._working
        if worker in self._newcomers:
            self._newcomers.remove(worker)
            return
        self._members.remove(worker)
        if worker in self._working:
            self._working.remove(worker)
            self._ready.discard(worker)
            self._work.lose(worker)

    def _after_crash(self, worker: int) -> None:
        # Whoever waits for the next round takes no part, and disturbs nothing.
        if self._phase is _Phase.REDUCING and self._is_interrupted:
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
        if not self._work.has_stepped():
            self._welcome(self._newcomers)
        if self._newcomers and self._members:
            self._phase = _Phase.COPYING
            donor, n_bytes = self._members[0], simulation.model_bytes
            self._copied.set(copies_seconds(network, donor, self._newcomers, n_bytes))
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
        simulation, n_jobs = self._simulation, self._work.jobs_each() * len(self._members)
        self._phase = _Phase.IDLE
        # Without members the model is lost, and nobody can go on: that is a stall.
        if not self._members or not simulation.admit(simulation.env.now, n_jobs):
            return
        self._phase = _Phase.COMPUTING
        self._round += 1
        self._ready, self._working = set(), list(self._members)
        for worker in self._members:
            self._work.begin(worker, self._round, partial(self._on_ready, worker))

    def _on_ready(self, worker: int) -> None:
        self._ready.add(worker)
        self._reduce_if_complete()

    def _reduce_if_complete(self) -> None:
        if len(self._ready) < len(self._working):
            return
        self._phase = _Phase.REDUCING
        network = self._simulation.network.among(tuple(self._working))
        seconds = collective_seconds(self._collective, network, self._work.n_bytes())
        self._reduced.set(seconds)

    def _on_reduced(self, event: simpy.Event) -> None:
        self._work.reduce(tuple(self._working))
        self._working = []
        self._phase = _Phase.IDLE
        self._next_round()
