"""AD-PSGD: a node averages with one neighbour at a time, when it is ready."""

from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
    rows_of_jobs,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.topology import Graph


@final
@dataclass(frozen=True, slots=True)
class PairwiseAveraging(AbstractProtocol):
    """Compute, average with a random neighbour, then take the step.

    The average of the two replicas is atomic; it happens when the answer of the neighbour is
    back. By then the gradient is stale: others have averaged with this node meanwhile. With
    `bipartite` only one side of the graph asks, so that two nodes never ask each other.

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
        for worker in range(simulation.cluster.n_workers):
            asks = sides is None or sides[worker] == 0
            if not _Node(simulation, self.graph, worker, asks=asks).begin():
                return

    def restate(self, schedule):
        rule, rows, jobs = "pairwise averaging", schedule.rows, schedule.jobs
        n = schedule.metadata.n_workers
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX), rule)
        found = rows_of_jobs(schedule, APPLIED_ALONE, rule)
        own = rows.replica[found[:, 0]] == jobs.worker
        require_everywhere(own, found[:, 0], rule, "a node reads its own replica")
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == 1 / n).all()), rule, "a share is 1/n")
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
        mixes = np.flatnonzero(rows.op == Op.MIX)
        halves = (rows.keep[mixes] == 0.5) & (rows.weight[mixes] == 0.5)
        require_everywhere(halves, mixes, rule, "half and half")
        require_steps_after_adds(schedule, rule)
        add = np.flatnonzero(rows.op == Op.ADD)
        asked = np.isin(add - 6, first)
        sides = _sides(self.graph) if self.bipartite else None
        asks = np.ones(n, bool) if sides is None else np.array(sides) == 0
        expected_asks = asks[rows.replica[add]]
        require_everywhere(asked == expected_asks, add, rule, "who asks averages before each step")


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

    __slots__ = ("_answered", "_asks", "_job", "_neighbours", "_number", "_partner", "_partners",
                 "_processor", "_simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, graph: Graph, number: int, *, asks: bool) -> None:
        self._simulation, self._number, self._asks = simulation, number, asks
        self._neighbours = graph.neighbours[number]
        self._partners = Stream(simulation.metadata.seed, Cause.TOPOLOGY, number)
        self._processor = simulation.processor(number, self._on_computed)
        self._answered = Alarm(simulation.env, self._on_answered)
        self._job = self._partner = -1

    def begin(self) -> bool:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        if not simulation.admit(now):
            return False
        self._job = record.job(self._number)
        record.read(self._job, self._number)
        record.gradient(self._job)
        record.begin(self._job, now)
        self._processor.start()
        return True

    def _on_computed(self, event: simpy.Event) -> None:
        simulation = self._simulation
        simulation.record.encode(self._job)
        if not self._asks:
            self._step()
            return
        place = int(self._partners.draw() * len(self._neighbours))
        self._partner = self._neighbours[min(place, len(self._neighbours) - 1)]
        network, n_bytes = simulation.network, simulation.payload.model_bytes
        there = network.seconds(self._number, self._partner, n_bytes)
        back = network.seconds(self._partner, self._number, n_bytes, after=there)
        self._answered.set(there + back)

    def _on_answered(self, event: simpy.Event) -> None:
        record, pair = self._simulation.record, (self._number, self._partner)
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
