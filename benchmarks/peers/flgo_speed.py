"""Asynchronous federated averaging in FLGo against the nearest job here, alternating.

    python -m venv peers && peers/bin/pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers/flgo_speed.py peers/bin/python [--json FILE]

Both train a multinomial logistic regression of the same size with batches of the same size; a
job is one gradient of a client that is always at work, applied by the server as it arrives. The
figure is FLGo's processor time a job / ours. Start-up, imports and data are outside on both
sides; simulating the schedule is inside on both.
"""

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, ratios, report
from peer import seconds

from elastic_consistency.execution import execute
from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AsynchronousServer

CLIENTS, ROUNDS, FEATURES, CLASSES, BATCH = 100, 1000, 60, 10, 32
PAIRS, REPLICATES, SAMPLES, JOBS = 5, (1, 16), 400, 3000


def ours(oracle: LogisticRegression, replicates: int) -> float:
    """Seconds a job here, the simulation included."""
    latencies = np.random.default_rng(0).integers(1, 100, size=CLIENTS)
    begin = time.process_time()
    cluster = Cluster.of_laws([Constant(float(latency)) for latency in latencies])
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=JOBS), seed=0)
    execute(schedule, oracle, SGD(0.01), seeds=tuple(range(replicates)))
    return (time.process_time() - begin) / (JOBS * replicates)


def measure(python: Path) -> Iterator[Figure]:
    """Alternating runs."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((CLIENTS * SAMPLES, FEATURES))
    features = np.pad(features, ((0, 0), (0, 1)), constant_values=1.0)  # FLGo's model has a bias
    labels = rng.integers(CLASSES, size=len(features))
    oracle = LogisticRegression(features, labels, CLASSES, batch=BATCH, ridge=0.0)
    sizes = (CLIENTS, ROUNDS, FEATURES, CLASSES, BATCH)
    pairs = [
        (seconds(python, "flgo_job.py", *sizes), *(ours(oracle, count) for count in REPLICATES))
        for _ in range(PAIRS)
    ]
    theirs, *own = zip(*pairs, strict=True)
    yield Figure("FLGo, us a job", tuple(found * 1e6 for found in theirs))
    for replicates, found in zip(REPLICATES, own, strict=True):
        yield Figure(f"FLGo / ours, replicates: {replicates}", ratios(theirs, found))


if __name__ == "__main__":
    # The peers live in an environment of their own, so its Python comes first.
    report(partial(measure, Path(sys.argv.pop(1))), __doc__)
