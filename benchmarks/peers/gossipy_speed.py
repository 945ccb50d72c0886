"""Gossip learning in gossipy against the nearest job here, alternating.

    python -m venv peers && peers/bin/pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers/gossipy_speed.py peers/bin/python [--json FILE]

The peers live in an environment of their own. Both train a multinomial logistic regression of
the same size with batches of the same size on random data; a job is one gradient, one step and
one average with a random node. The figure is gossipy's processor time a job / ours. Start-up,
imports and data are outside on both sides; simulating the schedule is inside on ours.
"""

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, ratios, report
from peer import seconds

from elastic_consistency.execution import execute
from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Graph, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import PairwiseAveraging

NODES, ROUNDS, FEATURES, CLASSES, BATCH = 100, 8, 64, 10, 32
PAIRS, REPLICATES = 5, (1, 16)


def gossipy(python: Path) -> float:
    """Seconds a job in gossipy; it imports torchvision for images, of which this job has none."""
    sizes = (NODES, ROUNDS, FEATURES, CLASSES, BATCH)
    return seconds(python, "gossipy_job.py", *sizes, absent=("torchvision",)) / (NODES * ROUNDS)


def ours(oracle: LogisticRegression, graph: Graph, replicates: int) -> float:
    """Seconds a job here, the simulation included."""
    begin = time.process_time()
    cluster, until = Cluster.alike(NODES, Exponential(1.0)), Until(jobs=NODES * ROUNDS)
    schedule = simulate(PairwiseAveraging(graph), cluster, until=until, seed=0)
    execute(schedule, oracle, SGD(0.01), seeds=tuple(range(replicates)))
    return (time.process_time() - begin) / (NODES * ROUNDS * replicates)


def measure(python: Path) -> Iterator[Figure]:
    """Alternating runs."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((NODES * 64, FEATURES))
    labels = rng.integers(CLASSES, size=len(features))
    oracle = LogisticRegression(features, labels, CLASSES, batch=BATCH, ridge=0.0)
    graph = Graph.of_networkx(nx.complete_graph(NODES))
    pairs = [
        (gossipy(python), *(ours(oracle, graph, count) for count in REPLICATES))
        for _ in range(PAIRS)
    ]
    theirs, *own = zip(*pairs, strict=True)
    yield Figure("gossipy, us a job", tuple(found * 1e6 for found in theirs))
    for replicates, found in zip(REPLICATES, own, strict=True):
        yield Figure(f"gossipy / ours, replicates: {replicates}", ratios(theirs, found), "≥ 25")


if __name__ == "__main__":
    # gossipy lives in an environment of its own, so its Python comes first.
    report(partial(measure, Path(sys.argv.pop(1))), __doc__)
