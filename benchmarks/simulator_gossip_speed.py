"""Cost of a job of gossip on a random regular graph, beside a bare heap loop.

The bare loop keeps the same books and writes the same rows with the same recorder; what it
lacks is SimPy and the engine. The two schedules are compared by digest before anything is
timed, and runs alternate.

    python benchmarks/simulator_gossip_speed.py [--json FILE]
"""

import heapq
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import networkx as nx
from figures import Figure, alternate, ratios, report

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import Recorder
from elastic_consistency.simulator import Cluster, Graph, Link, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.protocols import Gossip

WORKERS = (10, 100, 1000, 10_000)
JOBS, PAIRS = 20_000, 3
DEGREE, SEED, LATENCY = 4, 1, 0.125
LAW = Exponential(1.0)


class BareLoop:
    """Gossip without lag as a loop around a heap."""

    def __init__(self, graph: Graph, n_jobs: int) -> None:
        n = graph.n_nodes()
        self.graph, self.rounds, self.now = graph, n_jobs // n, 0.0
        self.record = Recorder(lambda: self.now, n_workers=n, hosts=tuple(range(n)), seed=SEED)
        self.draws = [independent_draws(LAW, SEED, Cause.COMPUTE, w) for w in range(n)]
        self.round, self.job, self.waiting = [-1] * n, [-1] * n, [False] * n
        self.inbox = [[] for _ in range(n)]
        self.received = [defaultdict(int) for _ in range(n)]
        self.left: dict[int, int] = {}
        self.heap: list = []
        self.counter = 0

    def run(self):
        """Run to the end; returns the recorder."""
        for node in range(len(self.round)):
            self.next_round(node)
        while self.heap:
            self.now, _, node, letter = heapq.heappop(self.heap)
            if letter is None:
                self.finished(node)
            else:
                self.inbox[node].append(letter)
                self.received[node][letter[0]] += 1
                if self.waiting[node]:
                    self.go_on(node)
        return self.record

    def push(self, seconds, node, letter):
        """Something will happen."""
        heapq.heappush(self.heap, (self.now + seconds, self.counter, node, letter))
        self.counter += 1

    def next_round(self, node):
        """Read and compute, unless all rounds are over."""
        if self.round[node] + 1 == self.rounds:
            return
        self.round[node] += 1
        record = self.record
        job = self.job[node] = record.job(node, round=self.round[node])
        record.read(job, node)
        record.gradient(job)
        record.begin(job, self.now)
        self.push(self.draws[node](self.now), node, None)

    def finished(self, node):
        """Step and send."""
        record, job, round = self.record, self.job[node], self.round[node]
        record.encode(job)
        record.add(node, job=job)
        record.step(node)
        record.drop(job=job, share=1 / len(self.round))
        receivers = self.graph.receivers(node, round)
        message = record.message(moves=True)
        record.put(message, replica=node, keep=1 - sum(weight for _, weight in receivers))
        self.left[message] = len(receivers)
        for receiver, weight in receivers:
            self.push(LATENCY, receiver, (round, node, message, weight))
        self.waiting[node] = True
        self.go_on(node)

    def go_on(self, node):
        """Mix and begin the next round if all messages of this one are in."""
        round = self.round[node]
        if self.received[node][round] < len(self.graph.senders(node, round)):
            return
        self.waiting[node] = False
        self.received[node].pop(round)
        taken = sorted(letter for letter in self.inbox[node] if letter[0] <= round)
        self.inbox[node] = [letter for letter in self.inbox[node] if letter[0] > round]
        for _, _, message, weight in taken:
            self.record.mix(node, message, keep=1.0, weight=weight)
            self.left[message] -= 1
            if self.left[message] == 0:
                self.record.drop(message=message)
                del self.left[message]
        self.next_round(node)


def engine(graph: Graph, n_jobs: int):
    """The schedule of simulate()."""
    cluster = Cluster.alike(graph.n_nodes(), LAW, link=Link(LATENCY))
    return simulate(Gossip(graph), cluster, until=Until(jobs=n_jobs), seed=SEED)


def bare(graph: Graph, n_jobs: int):
    """The schedule of the bare loop."""
    return BareLoop(graph, n_jobs).run().finish()


def measure() -> Iterator[Figure]:
    """All numbers of workers."""
    for n_workers in WORKERS:
        graph = Graph.of_networkx(nx.random_regular_graph(DEGREE, n_workers, seed=SEED))
        n_jobs = max(JOBS, n_workers) // n_workers * n_workers
        if bare(graph, n_jobs).digest() != engine(graph, n_jobs).digest():
            sys.exit(f"The schedules of {n_workers} workers differ.")
        loop, timing = alternate([partial(run, graph, n_jobs) for run in (bare, engine)], PAIRS)
        name = f"gossip, {n_workers:,} workers"
        yield Figure(f"bare heap / simulate(), {name}", ratios(loop, timing))
        yield Figure(f"  simulate(), us a job, {name}", tuple(s / n_jobs * 1e6 for s in timing))


if __name__ == "__main__":
    report(measure, __doc__)
