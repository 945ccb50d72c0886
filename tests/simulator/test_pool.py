"""A pool that runs ahead writes what the events would have written."""

import numpy as np
import pytest

from elastic_consistency.schedule import Metadata
from elastic_consistency.simulator import Cluster, Link, Payload, Until, Worker, simulate
from elastic_consistency.simulator.delays import (
    Constant,
    Empirical,
    Exponential,
    Gamma,
    LogNormal,
    Pareto,
    ShiftedExponential,
)
from elastic_consistency.simulator.pool import run_ahead
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.simulator.protocols import asynchronous_server as server
from elastic_consistency.simulator.simulation import Simulation

LAWS = (
    Exponential(1.0),
    Gamma(shape=2.0, scale=0.3),
    LogNormal(0.2, 0.7),
    Pareto(minimum=0.2, tail=1.5),
)


def _runs_ahead(cluster: Cluster, until: Until) -> bool:
    n = cluster.n_workers
    metadata = Metadata(n_workers=n, hosts=(-1,), seed=3)
    simulation = Simulation(cluster, until, Payload(), metadata)
    log = simulation.log(server._PATTERNS, n_operands=2)
    return run_ahead(simulation, log, first=0, exchange=5, last=4)


def _mixed(n_workers: int) -> Cluster:
    """Every law, with some workers hundreds of times slower than others."""
    workers = (Worker(LAWS[k % 4], slowdown=1 + 300 * (k % 3 == 2)) for k in range(n_workers))
    return Cluster(tuple(workers))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("n_workers", "n_jobs"), [(1, 1), (1, 40), (2, 2), (3, 4), (5, 200), (16, 2000), (300, 900)]
)
def test_the_schedule_is_that_of_the_events(n_workers, n_jobs, seed):
    """A limit of time, however late, is reason enough for events."""
    cluster = _mixed(n_workers)
    until, late = Until(jobs=n_jobs), Until(jobs=n_jobs, time_s=1e300)
    assert _runs_ahead(cluster, until)
    assert not _runs_ahead(cluster, late)

    pooled = simulate(AsynchronousServer(), cluster, until=until, seed=seed)
    by_events = simulate(AsynchronousServer(), cluster, until=late, seed=seed)

    assert pooled.digest() == by_events.digest()
    assert pooled.metadata.provenance["inert"] == by_events.metadata.provenance["inert"]


def test_time_to_encode_counts_as_computation():
    cluster, payload = _mixed(4), Payload(encode_s=0.25)
    limits = (Until(jobs=60), Until(jobs=60, time_s=1e300))

    pooled, by_events = (
        simulate(AsynchronousServer(), cluster, until=until, seed=0, payload=payload)
        for until in limits
    )

    assert pooled.digest() == by_events.digest()


def test_events_decide_where_arrivals_coincide():
    """The random part of each delay is lost in rounding, so that all workers arrive together."""
    cluster = Cluster.alike(3, ShiftedExponential(1e20, 1.0))

    assert not _runs_ahead(cluster, Until(jobs=30))


@pytest.mark.parametrize(
    ("cluster", "until"),
    [
        (Cluster.alike(3, Constant(1.0)), Until(jobs=9)),
        (Cluster.alike(3, Empirical(np.array([1.0, 2.0]))), Until(jobs=9)),
        (Cluster.alike(3, Exponential(1.0), link=Link(0.1)), Until(jobs=9)),
        (Cluster((*_mixed(2).workers, Worker(Exponential(1.0), uplink=Link(0.1)))), Until(jobs=9)),
        (_mixed(3), Until(jobs=9, drain=False)),
        (_mixed(3), Until(time_s=9.0)),
        (_mixed(3), Until(jobs=2)),
    ],
)
def test_whatever_else_may_happen_is_left_to_events(cluster, until):
    assert not _runs_ahead(cluster, until)
