"""Cost of a job of gossip on a random regular graph, beside a bare heap loop.

The bare loop keeps the same books and writes the same rows with the same recorder; what it
lacks is SimPy and the engine. The two schedules are compared by digest before anything is
timed, and runs alternate.

    python benchmarks/simulator_gossip_speed.py [--jobs 40000] [--pairs 3] [--json FILE]
"""

import argparse
import heapq
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

import networkx as nx

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import Recorder
from elastic_consistency.simulator import Cluster, Graph, Link, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.protocols import Gossip

WORKERS = (10, 100, 1000, 10_000)
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


def seconds(run, *arguments) -> float:
    """Processor seconds of one call."""
    begin = time.process_time()
    run(*arguments)
    return time.process_time() - begin


def compare(n_workers: int, n_jobs: int, n_pairs: int) -> dict[str, float]:
    """Microseconds a job, and the speed of the engine as a share of the bare loop's."""
    graph = Graph.of_networkx(nx.random_regular_graph(DEGREE, n_workers, seed=SEED))
    n_jobs = n_jobs // n_workers * n_workers
    if bare(graph, n_jobs).digest() != engine(graph, n_jobs).digest():
        sys.exit(f"The schedules of {n_workers} workers differ.")
    pairs = [[seconds(run, graph, n_jobs) for run in (bare, engine)] for _ in range(n_pairs)]
    loop, timing = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = sorted(pair[0] / pair[1] for pair in pairs)
    return {
        "n_workers": n_workers,
        "bare_us": 1e6 * loop / n_jobs,
        "simulate_us": 1e6 * timing / n_jobs,
        "ratio": statistics.median(ratios),
        "ratio_least": ratios[0],
        "ratio_most": ratios[-1],
    }


def main() -> None:
    """Print the table and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=40_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"{'workers':>8} {'bare µs':>8} {'simulate µs':>12} {'ratio':>18}")
    results = []
    for n_workers in WORKERS:
        row = compare(n_workers, options.jobs, options.pairs)
        results.append(row)
        spread = f"{row['ratio']:.2f} ({row['ratio_least']:.2f}-{row['ratio_most']:.2f})"
        print(f"{n_workers:>8} {row['bare_us']:>8.2f} {row['simulate_us']:>12.2f} {spread:>18}")
    if options.json:
        table = {"jobs": options.jobs, "pairs": options.pairs, "results": results}
        options.json.write_text(json.dumps(table, indent=2) + "\n")


if __name__ == "__main__":
    main()
