"""Schedules for the executor, from the simulator."""

import pytest

from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer


@pytest.fixture(scope="session")
def server():
    """server(n_workers, jobs, *, seed=0, laws=None): asynchronous server without latency."""

    def build(n_workers, jobs, *, seed=0, laws=None):
        laws = laws or [Exponential(1.0)] * n_workers
        cluster = Cluster.of_laws(laws)
        return simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=seed)

    return build


@pytest.fixture(scope="session")
def all_reduce():
    """all_reduce(n_workers, jobs): equal workers, no latency."""

    def build(n_workers, jobs):
        cluster = Cluster.alike(n_workers, Constant(1.0))
        return simulate(AllReduce(), cluster, until=Until(jobs=jobs), seed=0)

    return build
