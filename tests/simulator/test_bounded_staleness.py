"""Bounded staleness: its two ends, and its promise in between."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousServer,
    BoundedStaleness,
)

SECONDS = st.sampled_from([0.0, 0.5, 1.0, 3.0, 200.0])
SCRIPTS = st.lists(st.lists(SECONDS, min_size=1, max_size=5), min_size=1, max_size=5)


def test_without_a_bound_it_is_the_asynchronous_server(uneven_cluster, payload):
    arguments = {"until": Until(jobs=200), "seed": 1, "payload": payload}

    bounded = simulate(BoundedStaleness(inf), uneven_cluster, **arguments)

    assert bounded.digest() == simulate(AsynchronousServer(), uneven_cluster, **arguments).digest()


def test_with_bound_0_it_is_synchronous():
    """Rounds end when all-reduce's do, and a view holds the whole of every earlier round."""
    n, rounds = 4, 12
    cluster, until = Cluster.alike(n, Exponential(1.0)), Until(jobs=n * rounds)

    bounded = simulate(BoundedStaleness(0), cluster, until=until, seed=1)

    reduced = simulate(AllReduce(), cluster, until=until, seed=1)
    last = bounded.rows.time[bounded.rows.op == Op.STEP][n - 1 :: n]
    assert np.array_equal(last, reduced.rows.time[reduced.rows.op == Op.STEP][::n])
    seen = compute_influence(bounded).views[:, 0]
    jobs = np.arange(n * rounds)
    assert np.array_equal(seen, (jobs[None, :] < jobs[:, None] // n * n).astype(float))


@given(scripts=SCRIPTS, bound=st.integers(0, 4), n_jobs=st.integers(1, 60))
def test_nobody_ever_runs_further_ahead_than_the_bound(script, scripts, bound, n_jobs):
    cluster = Cluster.of_laws(script(*seconds) for seconds in scripts)

    schedule = simulate(BoundedStaleness(bound), cluster, until=Until(jobs=n_jobs), seed=0)

    finished = np.zeros(cluster.n_workers, int)
    for op, worker in zip(schedule.rows.op, schedule.rows.worker, strict=True):
        if op == Op.READ:
            assert finished[worker] - finished.min() <= bound
        finished[worker] += op == Op.DROP
    schedule.check()
    BoundedStaleness(bound).restate(schedule)


@pytest.mark.parametrize("bound", [-1, 0.5])
def test_a_bound_is_a_whole_number(bound):
    with pytest.raises(ValueError, match=r"BoundedStaleness.bound must be an integer >= 0 or inf"):
        BoundedStaleness(bound)
