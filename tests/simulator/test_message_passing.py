"""Message passing: the constant B, its two ends, and losses that are latency."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap, noise_gap
from elastic_consistency.simulator import Cluster, Link, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AllReduce, MessagePassing

P, LAG = 8, 5


def _aggregate_difference(schedule):
    return compute_influence(schedule).aggregate_difference()


def test_late_messages_reach_the_constants_of_theory():
    """(p - 1) tau / p = 4.375 aligned and sqrt((p - 1) tau) / p for noise (design, section 9)."""
    cluster = Cluster((Worker(Constant(1.0)),) * P, fabric=Link(5.5))

    schedule = simulate(MessagePassing(LAG), cluster, until=Until(jobs=20 * P), seed=0)

    assert largest_gap(_aggregate_difference(schedule)) == pytest.approx(4.375, abs=1e-9)
    assert noise_gap(_aggregate_difference(schedule)) == pytest.approx(sqrt(35) / 8, abs=1e-9)


@given(
    scripts=st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 200.0]), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    ),
    lag=st.integers(0, 3),
    jitter=st.lists(st.sampled_from([0.0, 1.0, 30.0]), min_size=1, max_size=5),
)
def test_no_timing_exceeds_the_constant(script, scripts, lag, jitter):
    p = len(scripts)
    cluster = Cluster(
        tuple(Worker(script(*seconds)) for seconds in scripts), Link(0.0, script(*jitter))
    )

    schedule = simulate(MessagePassing(lag), cluster, until=Until(jobs=6 * p), seed=0)

    gap = largest_gap(_aggregate_difference(schedule))
    assert gap <= (p - 1) * lag / p + 1e-12
    schedule.check()
    MessagePassing(lag).restate(schedule)


def test_without_lag_it_is_all_reduce():
    cluster, until = Cluster.alike(4, Exponential(1.0)), Until(jobs=60)

    passed = simulate(MessagePassing(0), cluster, until=until, seed=1)

    reduced = simulate(AllReduce(), cluster, until=until, seed=1)
    views = compute_influence(reduced).views
    order = np.lexsort((passed.jobs.worker, passed.jobs.round))
    mine = compute_influence(passed).views[order][:, :, order]
    np.testing.assert_allclose(mine, views, atol=1e-12)
    times = reduced.rows.time[reduced.rows.op == Op.STEP]
    assert passed.rows.time[-1] == times[-1]


def test_a_loss_is_a_latency():
    """Without a timeout losses leave remarks and nothing else; with one they leave time."""
    cluster, until = Cluster.alike(4, Exponential(1.0), link=Link(0.2)), Until(jobs=60)

    clean, free, slow = (
        simulate(MessagePassing(2, loss, timeout), cluster, until=until, seed=1)
        for loss, timeout in ((0.0, 0.0), (0.5, 0.0), (0.5, 2.0))
    )

    assert np.array_equal(clean.rows.time, free.rows.time)
    assert np.array_equal(clean.rows.job, free.rows.job)
    assert clean.metadata.annotations == ()
    assert {a.kind for a in free.metadata.annotations} == {"retransmission"}
    assert slow.rows.time[-1] > clean.rows.time[-1]
