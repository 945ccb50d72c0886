"""The stale synchronous parallel server: nobody runs ahead of the slowest by more than s."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.schedule import SERVER, Op, Schedule
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.client import Client, apply_alone
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_server_exchanges,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
@dataclass(frozen=True, slots=True)
class BoundedStaleness(AbstractProtocol):
    """A worker reads only while it has finished at most `bound` jobs more than the slowest.

    With bound 0 nobody begins a round before all have finished the last one, which is the
    synchronous server; with bound infinity nobody waits, which is the asynchronous one.

    Attributes:
        bound: s, how many jobs a worker may be ahead, an integer >= 0 or infinity.

    Source: Ho et al. (2013), More Effective Distributed ML via a Stale Synchronous Parallel
    Parameter Server, NIPS 26.
    """

    bound: float

    def __post_init__(self) -> None:
        sound = self.bound >= 0 and (self.bound == inf or self.bound == int(self.bound))
        check(sound, self, "bound", "an integer >= 0 or infinity")

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        _Gate(simulation, self.bound).open()

    def restate(self, schedule):
        rule = "bounded staleness"
        require_server_exchanges(schedule, rule)
        _require_gate(schedule, self.bound, rule)


def _require_gate(schedule: Schedule, bound: float, rule: str) -> None:
    """After each exchange exactly those read who may, until the limit is reached."""
    rows, n = schedule.rows, schedule.metadata.n_workers
    finished, idle, limited = np.zeros(n, np.int64), np.ones(n, bool), False
    ends = [-1, *np.flatnonzero(rows.op == Op.DROP).tolist(), len(rows)]
    for before, after in pairwise(ends):
        part = slice(before + 1, after)
        reading = np.flatnonzero(rows.op[part] == Op.READ)
        readers = rows.worker[part][reading]
        may = idle & (finished - finished.min() <= bound)
        refuse_unless(bool(may[readers].all()), rule, "nobody runs ahead", row=before + 1)
        at_once = np.array_equal(reading, 2 * np.arange(len(reading)))
        refuse_unless(at_once, rule, "who may read does so at once", row=before + 1)
        refuse_unless(not (limited and len(readers)), rule, "who may read reads", row=before + 1)
        limited |= len(readers) < int(may.sum())
        idle[readers] = False
        if after < len(rows):
            finished[rows.worker[after]] += 1
            idle[rows.worker[after]] = True


@final
class _Gate:
    """Who has finished how much, and who waits."""

    __slots__ = ("_bound", "_clients", "_finished", "_slowest", "_tally", "_waiting",
                 "simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, bound: float) -> None:
        self.simulation, self._bound = simulation, bound
        n = simulation.cluster.n_workers
        self._clients = [Client(simulation, worker, self._arrived) for worker in range(n)]
        self._finished = [0] * n
        self._tally = Counter({0: n})  # how many workers have finished so many jobs
        self._slowest = 0
        self._waiting: dict[int, None] = {}  # in the order of arrival

    def open(self) -> None:
        for client in self._clients:
            client.read()

    def _arrived(self, client: Client) -> None:
        apply_alone(self.simulation, client.job)
        worker = client.worker
        done = self._finished[worker]
        self._finished[worker] = done + 1
        self._tally[done] -= 1
        self._tally[done + 1] += 1
        advanced = done == self._slowest and self._tally[done] == 0
        self._slowest += advanced
        self._pass_or_wait(worker)
        if advanced:
            for waiting in tuple(self._waiting):
                self._pass_or_wait(waiting)

    def _pass_or_wait(self, worker: int) -> None:
        if self._finished[worker] - self._slowest <= self._bound:
            self._waiting.pop(worker, None)
            self.simulation.waits.pop(worker, None)
            self._clients[worker].read()
        elif worker not in self._waiting:
            self._waiting[worker] = None
            slowest = (self._finished.index(self._slowest),)
            self.simulation.waits[worker] = Wait(worker, slowest, "it is too far ahead")
