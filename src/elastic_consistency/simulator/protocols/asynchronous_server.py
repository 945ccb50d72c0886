"""The fully asynchronous parameter server."""

from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency.schedule import SERVER, Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.pool import run_ahead
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.fault_restatement import (
    has_faults,
    require_whole_or_lost,
)
from elastic_consistency.simulator.protocols.restatement import (
    previous_of_worker,
    refuse_unless,
    require_everywhere,
    require_server_exchanges,
)
from elastic_consistency.simulator.row_patterns import PatternLog, RowPattern
from elastic_consistency.simulator.simulation import Simulation

_READ = (
    RowPattern(Op.READ, job=1, fixed_replica=0),
    RowPattern(Op.GRADIENT, job=1),
)
_ENCODE = (RowPattern(Op.ENCODE, job=0),)
_APPLY = (
    RowPattern(Op.ADD, job=0, fixed_replica=0, weight=1.0),
    RowPattern(Op.STEP, fixed_replica=0),
    RowPattern(Op.DROP, job=0, share=1.0),
)
_PATTERNS = (_READ, _ENCODE, _APPLY, _APPLY + _READ, _ENCODE + _APPLY, _ENCODE + _APPLY + _READ)
_FIRST, _COMPUTED, _LAST, _EXCHANGE, _COMPUTED_LAST, _COMPUTED_EXCHANGE = range(len(_PATTERNS))


@final
@dataclass(frozen=True, slots=True)
class AsynchronousServer(AbstractUnreliableProtocol):
    """The server applies each gradient as it arrives and hands out the model in exchange.

    All workers read at time 0. A worker's life is: the model travels down, the gradient is
    computed at it, the update travels up, the server applies it and reads the model out to
    the same worker in the same exchange. Nobody waits for anybody; the staleness is whatever
    the others have done meanwhile.

    Source: Dean et al. (2012), Large Scale Distributed Deep Networks (without Adagrad).
    """

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        if simulation.cluster.is_unreliable or simulation.cluster.shared_hosts:
            _start_crew(simulation)
            return
        log = simulation.log(_PATTERNS, n_operands=2)
        patterns = {"first": _FIRST, "exchange": _COMPUTED_EXCHANGE, "last": _COMPUTED_LAST}
        if run_ahead(simulation, log, **patterns):
            return
        for worker in range(simulation.cluster.n_workers):
            if not simulation.admit(0.0):
                return
            _Client(simulation, log, worker).begin()

    def restate(self, schedule):
        rule, rows = "asynchronous server", schedule.rows
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        found = require_server_exchanges(schedule, rule)
        read, drop = found[:, 0], found[:, 4]
        previous = previous_of_worker(schedule)
        later = np.flatnonzero(previous >= 0)
        at_once = read[later] == drop[previous[later]] + 1
        message = "a worker reads in the exchange that took its last update"
        require_everywhere(at_once, read[later], rule, message)
        same = rows.time[read[later]] == rows.time[drop[previous[later]]]
        require_everywhere(same, read[later], rule, "an exchange takes no time")
        first = read[previous < 0]
        together = (first == 2 * np.arange(len(first))) & (rows.time[first] == 0)
        require_everywhere(together, first, rule, "all workers read at time 0, before all else")
        # Once the limit is reached nobody reads: the reads follow the first exchanges.
        drops = np.flatnonzero(rows.op == Op.DROP)
        handed_out = np.array_equal(drops[: len(later)] + 1, np.sort(read[later]))
        refuse_unless(handed_out, rule, "every exchange hands out the model until the limit")

    def restate_with_faults(self, schedule):
        require_whole_or_lost(schedule, "asynchronous server")


def _start_crew(simulation: Simulation) -> None:
    def arrived(client: AnyClient) -> None:
        apply_alone(simulation, client.job)
        client.read()

    Crew(simulation, arrived, lambda client: client.read()).begin()


@final
class _Client:
    """A worker and its connection to the server."""

    __slots__ = ("_admit", "_alarm_arrived", "_alarm_computed", "_down", "_env", "_job", "_log",
                 "_note", "_seconds", "_up", "_worker")  # fmt: skip

    def __init__(self, simulation: Simulation, log: PatternLog, worker: int) -> None:
        self._admit, self._env, self._worker = simulation.admit, simulation.env, worker
        self._log, self._note = log, log.note
        self._seconds = simulation.computation(worker)
        machine = simulation.cluster.workers[worker]
        self._down = simulation.transfer(SERVER, worker, simulation.model_bytes)
        self._up = simulation.transfer(worker, SERVER, simulation.update_bytes)
        # A link that costs nothing is asked only once, before the run.
        free = machine.uplink.is_free(simulation.update_bytes)
        near = free and machine.downlink.is_free(simulation.model_bytes)
        at_once = self._computed_nearby if near else self._computed_and_arrived
        computed = at_once if free else self._computed
        self._alarm_computed = Alarm(simulation.env, computed).set
        self._alarm_arrived = Alarm(simulation.env, self._arrived).set
        self._job = -1

    def begin(self) -> None:
        now = self._env.now
        self._read(now)
        self._note((now, _FIRST, -1, self._job))

    def _read(self, now: float) -> None:
        down = self._down(now)
        begin = now + down
        self._job = self._log.job(self._worker, begin)
        self._alarm_computed(down + self._seconds(begin))

    def _computed(self, event: simpy.Event) -> None:
        now = self._env.now
        up = self._up(now)
        if up == 0:
            self._exchange(now, _COMPUTED_EXCHANGE, _COMPUTED_LAST)
        else:
            self._note((now, _COMPUTED, self._job, -1))
            self._alarm_arrived(up)

    def _computed_nearby(self, event: simpy.Event) -> None:
        """Everything in one event and without a further call; the most frequent case."""
        now, done = self._env._now, self._job
        if self._admit(now):
            job = self._job = self._log.job(self._worker, now)
            self._alarm_computed(self._seconds(now))
            self._note((now, _COMPUTED_EXCHANGE, done, job))
        else:
            self._note((now, _COMPUTED_LAST, done, -1))

    def _computed_and_arrived(self, event: simpy.Event) -> None:
        self._exchange(self._env.now, _COMPUTED_EXCHANGE, _COMPUTED_LAST)

    def _arrived(self, event: simpy.Event) -> None:
        self._exchange(self._env.now, _EXCHANGE, _LAST)

    def _exchange(self, now: float, pattern: int, last: int) -> None:
        done = self._job
        if self._admit(now):
            self._read(now)
            self._note((now, pattern, done, self._job))
        else:
            self._note((now, last, done, -1))
