"""A server that needs time for each update, and the queue in front of it."""

from collections import deque
from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import SERVER
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.fault_restatement import (
    has_faults,
    require_whole_or_lost,
)
from elastic_consistency.simulator.protocols.restatement import (
    previous_of_worker,
    require_everywhere,
    require_server_exchanges,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class QueuedServer(AbstractUnreliableProtocol):
    """The asynchronous server, which takes time for each update and serves them in order.

    The update is applied, and the model read, at the end of its service. With n workers that
    think for Z seconds (pull, compute, push) and a service of S seconds, this is the closed
    queue of the machine-repair problem: throughput at most min(n / (Z + S), 1 / S), with the
    knee at n = 1 + Z / S.

    Attributes:
        service: Law of the time that the server needs for one update.

    Source: Lazowska, Zahorjan, Graham, Sevcik (1984), Quantitative System Performance, ch. 5.
    """

    service: AbstractDelayLaw

    def __post_init__(self) -> None:
        check(isinstance(self.service, AbstractDelayLaw), self, "service", "a delay law")

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        _Queue(simulation, self.service).begin()

    def restate(self, schedule):
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        rule, rows = "queued server", schedule.rows
        found = require_server_exchanges(schedule, rule)
        previous = previous_of_worker(schedule)
        later = np.flatnonzero(previous >= 0)
        at_once = found[later, 0] == found[previous[later], 4] + 1
        message = "a worker reads at the end of its service"
        require_everywhere(at_once, found[later, 0], rule, message)
        first = found[previous < 0, 0]
        require_everywhere(rows.time[first] == 0, first, rule, "all workers read at time 0")

    def restate_with_faults(self, schedule):
        require_whole_or_lost(schedule, "queued server")


def saturation_workers(think_s: float, service_s: float) -> float:
    """Number of workers from which on the server, and not the workers, limits the throughput.

    Args:
        think_s: Z, mean time of pull, computation and push, s.
        service_s: S, mean service time, s, > 0.
    """
    return 1 + think_s / service_s


@final
class _Queue:
    """The queue in front of the server; the first in it is being served."""

    __slots__ = ("_alarm", "_crew", "_queue", "_seconds", "_simulation")

    def __init__(self, simulation: Simulation, service: AbstractDelayLaw) -> None:
        self._simulation = simulation
        seed = simulation.metadata.seed
        self._seconds = independent_draws(service, seed, Cause.COMPUTE, SERVER)
        self._alarm = Alarm(simulation.env, self._served)
        self._queue: deque[AnyClient] = deque()
        self._crew = Crew(simulation, self._arrived, lambda client: client.read())

    def begin(self) -> None:
        self._crew.begin()

    def _arrived(self, client: AnyClient) -> None:
        self._queue.append(client)
        if len(self._queue) == 1:
            self._alarm.set(self._seconds(0.0))

    def _served(self, event: simpy.Event) -> None:
        client = self._queue.popleft()
        if self._queue:
            self._alarm.set(self._seconds(0.0))
        apply_alone(self._simulation, client.job)
        client.read()
