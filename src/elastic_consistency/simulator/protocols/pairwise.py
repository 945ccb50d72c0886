"""AD-PSGD: a node averages with one neighbour at a time, when it is ready."""

from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.network.channel import Arrival, Transfer
from elastic_consistency.simulator.network.topology import Graph
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.fault_restatement import absences, require_lives
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class PairwiseAveraging(AbstractUnreliableProtocol):
    """Compute, average with a random neighbour, then take the step.

    The average of the two replicas is atomic; it happens when the answer of the neighbour is
    back. By then the gradient is stale: others have averaged with this node meanwhile. With
    `bipartite` only one side of the graph asks, so that two nodes never ask each other.

    A node asks only neighbours that are there. If there is none, or the one that it asked has
    crashed by the time of the answer, it steps without an average. A replica is as durable as a
    checkpoint: who comes back goes on from its own.

    Attributes:
        graph: Who may average with whom; every node has a neighbour.
        bipartite: Whether only the side of node 0 asks for averages.

    Source: Lian, Zhang, Zhang, Liu (2018), arXiv:1710.06952, Algorithm 1.
    """

    graph: Graph
    bipartite: bool = False

    def __post_init__(self) -> None:
        check(all(self.graph.neighbours), self, "graph", "a graph without lonely nodes")
        if self.bipartite:
            check(_sides(self.graph) is not None, self, "graph", "connected and bipartite")

    def hosts(self, cluster):
        allowed = f"a graph of the {cluster.n_workers} workers of the cluster"
        check(self.graph.n_nodes() == cluster.n_workers, self, "graph", allowed)
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        sides = _sides(self.graph) if self.bipartite else None
        nodes: list[_Node] = []
        lifetimes = Lifetimes(
            simulation, lambda worker: nodes[worker].begin(), lambda worker: nodes[worker].die()
        )
        for worker in range(simulation.cluster.n_workers):
            asks = sides is None or sides[worker] == 0
            nodes.append(_Node(simulation, self.graph, worker, lifetimes.is_up, asks=asks))
        lifetimes.begin()

    def restate(self, schedule):
        self.restate_with_faults(schedule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "pairwise averaging", schedule.rows, schedule.jobs
        n = schedule.metadata.n_workers
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX, Op.CRASH), rule)
        found = require_lives(schedule, APPLIED_ALONE, rule)
        own = rows.replica[found[:, 0]] == jobs.worker
        require_everywhere(own, found[:, 0], rule, "a node reads its own replica")
        share = jobs.share[found[:, 3] >= 0]
        refuse_unless(bool((np.isnan(share) | (share == 1 / n)).all()), rule, "a share is 1/n")
        first = self._require_pairs(schedule, rule)
        mixes = np.flatnonzero(rows.op == Op.MIX)
        halves = (rows.keep[mixes] == 0.5) & (rows.weight[mixes] == 0.5)
        require_everywhere(halves, mixes, rule, "half and half")
        require_steps_after_adds(schedule, rule)
        add = np.flatnonzero(rows.op == Op.ADD)
        asked = np.isin(add - 6, first)
        sides = _sides(self.graph) if self.bipartite else None
        asks = np.ones(n, bool) if sides is None else np.array(sides) == 0
        excused = self._without_partner(schedule, add)
        fits = (asked == asks[rows.replica[add]]) | (~asked & excused)
        require_everywhere(fits, add, rule, "who asks averages before each step")

    def _require_pairs(self, schedule: Schedule, rule: str) -> np.ndarray:
        """Two neighbours meet in one breath and take each other's model; (pairs,) first rows."""
        rows = schedule.rows
        put = np.flatnonzero(rows.op == Op.PUT)
        refuse_unless(len(put) % 2 == 0, rule, "two replicas meet")
        first, partner = put[::2], rows.replica[put[1::2]]
        expected = np.array([Op.PUT, Op.PUT, Op.MIX, Op.MIX, Op.DROP, Op.DROP, Op.ADD, Op.STEP])
        window = np.append(rows.op, np.full(8, -1))[first[:, None] + np.arange(8)]
        require_everywhere((window == expected).all(1), first, rule, "an average is atomic")
        linked = np.array(
            [
                b in self.graph.neighbours[a]
                for a, b in zip(rows.replica[first], partner, strict=True)
            ],
            bool,
        )
        require_everywhere(linked, first, rule, "only neighbours meet")
        crossed = (rows.replica[first + 2] == rows.replica[first]) & (
            rows.message[first + 2] == rows.message[first + 1]
        )
        crossed &= (rows.replica[first + 3] == partner) & (
            rows.message[first + 3] == rows.message[first]
        )
        require_everywhere(crossed, first, rule, "each takes the other's model")
        return first

    def _without_partner(self, schedule: Schedule, add: np.ndarray) -> np.ndarray:
        """For each ADD, whether some neighbour was not there."""
        found = np.zeros(len(add), bool)
        replica = schedule.rows.replica[add]
        for worker, first, last in absences(schedule):
            near = np.isin(replica, self.graph.neighbours[worker])
            found |= near & (first <= add) & (add < last)
        return found


def _sides(graph: Graph) -> list[int] | None:
    """0 or 1 for each node, 0 for node 0; None unless the graph is connected and bipartite."""
    side = {0: 0}
    queue = [0]
    for node in queue:
        for other in graph.neighbours[node]:
            if other not in side:
                side[other] = 1 - side[node]
                queue.append(other)
            elif side[other] == side[node]:
                return None
    return [side[node] for node in range(graph.n_nodes())] if len(side) == graph.n_nodes() else None


@final
class _Node:
    """One node: compute, ask, average, step."""

    __slots__ = ("_answered", "_asks", "_is_asking", "_is_up", "_job", "_neighbours", "_number",
                 "_partner", "_partners", "_processor", "_simulation", "_transfer")  # fmt: skip

    def __init__(
        self, simulation: Simulation, graph: Graph, number: int, is_up: list[bool], *, asks: bool
    ) -> None:
        self._simulation, self._number, self._asks = simulation, number, asks
        self._neighbours, self._is_up = graph.neighbours[number], is_up
        self._partners = Stream(simulation.metadata.seed, Cause.TOPOLOGY, number)
        self._processor = simulation.processor(number, self._on_computed)
        self._answered = Alarm(simulation.env, self._on_answered)
        self._transfer: Transfer | Arrival | None = None  # where the fabric is shared
        self._is_asking = False
        self._job = self._partner = -1

    def begin(self) -> None:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        if not simulation.admit(now):
            return
        self._job = record.job(self._number)
        record.read(self._job, self._number)
        record.gradient(self._job)
        record.begin(self._job, now)
        self._processor.start()

    def die(self) -> None:
        """Lose the job, whether it is being computed or waits for an answer."""
        if self._is_asking:
            self._is_asking = False
            (self._transfer or self._answered).cancel()
            self._transfer = None
        else:
            self._processor.cancel()
        self._simulation.record.drop(job=self._job, share=0.0)

    def _on_computed(self, event: simpy.Event) -> None:
        simulation = self._simulation
        simulation.record.encode(self._job)
        partners = [k for k in self._neighbours if self._is_up[k]] if self._asks else []
        if not partners:
            self._step()
            return
        self._is_asking = True
        place = int(self._partners.draw() * len(partners))
        self._partner = partners[min(place, len(partners) - 1)]
        network, n_bytes = simulation.network, simulation.model_bytes
        if network.is_shared:
            self._transfer = network.send(self._number, self._partner, n_bytes, self._on_asked)
            return
        there = network.seconds(self._number, self._partner, n_bytes)
        back = network.seconds(self._partner, self._number, n_bytes, after=there)
        self._answered.set(there + back)

    def _on_asked(self) -> None:
        network, n_bytes = self._simulation.network, self._simulation.model_bytes
        self._transfer = network.send(self._partner, self._number, n_bytes, self._on_back)

    def _on_back(self) -> None:
        self._transfer = None
        self._on_answered()

    def _on_answered(self, event: simpy.Event | None = None) -> None:
        record, pair = self._simulation.record, (self._number, self._partner)
        self._is_asking = False
        if not self._is_up[self._partner]:
            self._step()
            return
        own, other = record.message(), record.message()
        record.put(own, replica=pair[0])
        record.put(other, replica=pair[1])
        record.mix(pair[0], other, weight=0.5, keep=0.5)
        record.mix(pair[1], own, weight=0.5, keep=0.5)
        record.drop(message=own)
        record.drop(message=other)
        self._step()

    def _step(self) -> None:
        record = self._simulation.record
        record.add(self._number, job=self._job)
        record.step(self._number)
        record.drop(job=self._job, share=1 / self._simulation.cluster.n_workers)
        self.begin()
