"""A study that runs in a second: four workers, one of them slow, a tiny problem."""

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.simulator import Cluster, Link, Worker
from elastic_consistency.simulator.delays import Exponential, LogNormal
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.studies.study import Certificate, Contender, Seeds, Study


@pytest.fixture(scope="session")
def problem() -> LogisticRegression:
    """Twenty samples of length 1 in five dimensions, with a ridge."""
    rng = np.random.default_rng(7)
    features = rng.normal(size=(20, 5))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return LogisticRegression(features, rng.integers(0, 2, 20), 2, batch=2, ridge=0.1)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """Worker 0 is ten times slower than the three others."""
    work = LogNormal(0.1, 0.25)
    link = Link(0.005, Exponential(0.005))
    slow = Worker(work, slowdown=10.0, uplink=link, downlink=link)
    return Cluster((slow, *(Worker(work, uplink=link, downlink=link),) * 3), fabric=link)


@pytest.fixture(scope="session")
def study(problem, cluster) -> Study:
    """Asynchronous against synchronous training, few seeds."""
    return Study(
        name="tiny",
        cluster=cluster,
        oracle=problem,
        contenders=(
            Contender("asynchronous", AsynchronousServer(), 160),
            Contender("synchronous", AllReduce(), 160),
        ),
        target=0.2,
        step_shares=(1 / 2, 1 / 8),
        seeds=Seeds(timing=(0, 1, 2), tuning=(10,), replicates=3),
        certificate=Certificate(jobs=60, replicates=16),
    )
