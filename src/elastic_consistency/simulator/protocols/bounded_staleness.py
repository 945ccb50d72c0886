"""The stale synchronous parallel server: nobody runs ahead of the slowest by more than s."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.schedule import SERVER, Op, Schedule
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.fault_restatement import (
    has_faults,
    require_whole_or_lost,
)
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_server_exchanges,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
@dataclass(frozen=True, slots=True)
class BoundedStaleness(AbstractUnreliableProtocol):
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
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        require_server_exchanges(schedule, rule)
        _require_gate(schedule, self.bound, rule)

    def restate_with_faults(self, schedule):
        require_whole_or_lost(schedule, "bounded staleness")
        _require_gate_among_the_present(schedule, self.bound, "bounded staleness")


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


def _require_gate_among_the_present(schedule: Schedule, bound: float, rule: str) -> None:
    """Whoever reads is at most `bound` jobs ahead of the slowest of those who are there."""
    rows, n = schedule.rows, schedule.metadata.n_workers
    remarks = schedule.metadata.annotations
    comings = {(r.row, r.worker) for r in remarks if r.kind in ("join", "restart")}
    here = np.ones(n, bool)
    here[[r.worker for r in remarks if r.kind == "late start"]] = False
    finished, slowest, life, read_in = np.zeros(n, np.int64), 0, np.zeros(n, np.int64), {}
    for row in range(len(rows)):
        op, worker, job = rows.op[row], int(rows.worker[row]), int(rows.job[row])
        if here.any():
            slowest = max(slowest, int(finished[here].min()))
        for coming in sorted(w for r, w in comings if r == row):
            here[coming], finished[coming] = True, slowest
        if op == Op.READ:
            ahead = finished[worker] - slowest
            refuse_unless(bool(here[worker]) and ahead <= bound, rule, "nobody runs ahead", row=row)
            read_in[job] = life[worker]
        elif op == Op.CRASH:
            here[worker] = False
            life[worker] += 1
        elif op == Op.DROP and schedule.jobs.share[job] == 1:
            finished[worker] += here[worker] and read_in[job] == life[worker]


@final
class _Gate:
    """Who has finished how much, and who waits."""

    __slots__ = ("_bound", "_crew", "_finished", "_slowest", "_tally", "_waiting",
                 "simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, bound: float) -> None:
        self.simulation, self._bound = simulation, bound
        self._crew = Crew(simulation, self._arrived, self._joined, self._gone)
        self._finished = [0] * simulation.cluster.n_workers
        self._tally: Counter[int] = Counter()  # how many present workers have finished so many
        self._slowest = 0
        self._waiting: dict[int, None] = {}  # in the order of arrival

    def open(self) -> None:
        self._crew.begin()

    def _joined(self, client: AnyClient) -> None:
        """Who joins is as far as the slowest."""
        self._finished[client.worker] = self._slowest
        self._tally[self._slowest] += 1
        self._pass_or_wait(client.worker)

    def _gone(self, client: AnyClient) -> None:
        self._waiting.pop(client.worker, None)
        self._tally[self._finished[client.worker]] -= 1
        if self._advances():
            self._pass_the_waiting()

    def _arrived(self, client: AnyClient) -> None:
        apply_alone(self.simulation, client.job)
        if not self._crew.is_present(client):
            return
        worker = client.worker
        done = self._finished[worker]
        self._finished[worker] = done + 1
        self._tally[done] -= 1
        self._tally[done + 1] += 1
        advanced = self._advances()
        self._pass_or_wait(worker)
        if advanced:
            self._pass_the_waiting()

    def _advances(self) -> bool:
        """Move on the slowest to where somebody is; False if it is there already."""
        if self._tally[self._slowest] > 0 or not any(self._tally.values()):
            return False
        self._slowest = min(done for done, count in self._tally.items() if count > 0)
        self._tally = +self._tally
        return True

    def _pass_the_waiting(self) -> None:
        for waiting in tuple(self._waiting):
            self._pass_or_wait(waiting)

    def _pass_or_wait(self, worker: int) -> None:
        if self._finished[worker] - self._slowest <= self._bound:
            self._waiting.pop(worker, None)
            self.simulation.waits.pop(worker, None)
            self._crew.clients[worker].read()
        elif worker not in self._waiting:
            self._waiting[worker] = None
            present = (c.worker for c in self._crew.clients if self._crew.is_present(c))
            slowest = tuple(w for w in present if self._finished[w] == self._slowest)[:1]
            self.simulation.waits[worker] = Wait(worker, slowest, "it is too far ahead")
