"""The fully asynchronous parameter server."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappush
from typing import Any, final

import numpy as np
from simpy.events import NORMAL

from elastic_consistency.schedule import SERVER, Op
from elastic_consistency.simulator.delays.draws import Draw
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

_Callback = Callable[[Any], None]


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
        _Server(simulation, log).begin()

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
    """A worker, and what stands in SimPy's queue for its computation or its transfer.

    SimPy asks no more of an event than callbacks and whether it is well.
    """

    __slots__ = ("callbacks", "computed", "job", "worker")
    _ok = True

    def __init__(self, worker: int, computed: tuple[_Callback, ...]) -> None:
        self.worker, self.computed, self.job = worker, computed, -1
        self.callbacks: tuple[_Callback, ...] | None = None


@final
class _Server:
    """The server and the connections to its clients; a client has no function of its own."""

    __slots__ = ("_admit", "_arrived", "_down", "_env", "_log", "_next_number", "_note", "_queue",
                 "_seconds", "_simulation", "_up")  # fmt: skip

    def __init__(self, simulation: Simulation, log: PatternLog) -> None:
        self._simulation, self._log, self._note = simulation, log, log.note
        self._admit, self._env = simulation.admit, simulation.env
        # What Environment.schedule() does, without the call: it is once in every event.
        self._queue, self._next_number = simulation.env._queue, simulation.env._eid.__next__
        self._seconds = simulation.computations()
        self._arrived = (self._on_arrived,)
        self._down: dict[int, Draw] = {}  # of links that take time
        self._up: dict[int, Draw] = {}

    def begin(self) -> None:
        simulation, now = self._simulation, self._env.now
        down, up = simulation.model_bytes, simulation.update_bytes
        simulation.transfer(SERVER, 0, down)  # a link that costs nothing is asked only once
        known: dict[int, tuple[bool, bool, tuple[_Callback, ...]]] = {}
        for worker, machine in enumerate(simulation.cluster.workers):
            if not self._admit(now):
                return
            if id(machine) not in known:
                free = machine.downlink.is_free(down), machine.uplink.is_free(up)
                known[id(machine)] = *free, (self._after_computation(*free),)
            near_down, near_up, computed = known[id(machine)]
            if not near_down:
                self._down[worker] = simulation.transfer(SERVER, worker, down)
            if not near_up:
                self._up[worker] = simulation.transfer(worker, SERVER, up)
            client = _Client(worker, computed)
            self._read(client, now)
            self._note((now, _FIRST, -1, client.job))

    def _after_computation(self, *near: bool) -> _Callback:
        """What happens at its end; `near` says whether the links down and up take no time."""
        if all(near):
            return self._on_computed_nearby
        return self._on_computed_and_arrived if near[1] else self._on_computed

    def _read(self, client: _Client, now: float) -> None:
        draw = self._down.get(client.worker)
        down = draw(now) if draw else 0.0
        begin = now + down
        client.job = self._log.job(client.worker, begin)
        self._call(client.computed, down + self._seconds(client.worker, begin), client)

    def _call(self, callbacks: tuple[_Callback, ...], seconds: float, client: _Client) -> None:
        client.callbacks = callbacks
        entry = (self._env._now + seconds, NORMAL, self._next_number(), client)
        heappush(self._queue, entry)  # type: ignore[arg-type]

    def _on_computed(self, client: _Client) -> None:
        now = self._env.now
        up = self._up[client.worker](now)
        if up == 0:
            self._exchange(client, now, _COMPUTED_EXCHANGE, _COMPUTED_LAST)
        else:
            self._note((now, _COMPUTED, client.job, -1))
            self._call(self._arrived, up, client)

    def _on_computed_nearby(self, client: _Client) -> None:
        """Everything in one event and with few calls; the most frequent case."""
        now, done = self._env._now, client.job
        if self._admit(now):
            worker = client.worker
            job = client.job = self._log.job(worker, now)
            client.callbacks = client.computed
            time = now + self._seconds(worker, now)
            heappush(self._queue, (time, NORMAL, self._next_number(), client))  # type: ignore[arg-type]
            self._note((now, _COMPUTED_EXCHANGE, done, job))
        else:
            self._note((now, _COMPUTED_LAST, done, -1))

    def _on_computed_and_arrived(self, client: _Client) -> None:
        self._exchange(client, self._env.now, _COMPUTED_EXCHANGE, _COMPUTED_LAST)

    def _on_arrived(self, client: _Client) -> None:
        self._exchange(client, self._env.now, _EXCHANGE, _LAST)

    def _exchange(self, client: _Client, now: float, pattern: int, last: int) -> None:
        done = client.job
        if self._admit(now):
            self._read(client, now)
            self._note((now, pattern, done, client.job))
        else:
            self._note((now, last, done, -1))
