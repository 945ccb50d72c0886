"""The transient straggler: exact integration over its phases, and its long-run mean."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential, TransientStraggler
from elastic_consistency.simulator.delays.phases import Phases, phased_draws
from elastic_consistency.simulator.protocols import AsynchronousServer


def _work_done(begin, end, normal, slow, factor):
    """Integral of the speed from `begin` to `end`, phase by phase, for phases of fixed length."""
    done, start, is_slow = 0.0, 0.0, False
    while start < end:
        length = slow if is_slow else normal
        overlap = max(0.0, min(end, start + length) - max(begin, start))
        done += overlap / (factor if is_slow else 1.0)
        start, is_slow = start + length, not is_slow
    return done


def test_work_that_crosses_phases_takes_the_time_of_each():
    """Normal for 10 s, slow (5 times) for 20 s: worked out by hand."""
    phases = Phases(TransientStraggler(Constant(1.0), 5.0, Constant(10.0), Constant(20.0)), 0, 0)

    assert phases.elapsed(0.0, 4.0) == 4.0
    assert phases.elapsed(4.0, 8.0) == 6.0 + 2.0 * 5
    assert phases.elapsed(20.0, 1.0) == 5.0
    assert phases.elapsed(25.0, 13.0) == 5.0 + 10.0 + 2.0 * 5


@given(
    work=st.lists(st.floats(0, 50), min_size=1, max_size=20),
    pauses=st.lists(st.floats(0, 30), min_size=20, max_size=20),
    normal=st.floats(0.1, 10),
    slow=st.floats(0.1, 10),
    factor=st.floats(1, 200),
)
def test_the_integral_of_the_speed_is_the_work(work, pauses, normal, slow, factor):
    law = TransientStraggler(Constant(1.0), factor, Constant(normal), Constant(slow))
    phases, now = Phases(law, 0, 0), 0.0

    for seconds, pause in zip(work, pauses, strict=False):
        elapsed = phases.elapsed(now, seconds)

        done = _work_done(now, now + elapsed, normal, slow, factor)
        assert done == pytest.approx(seconds, rel=1e-7, abs=1e-7)
        now += elapsed + pause


def test_factor_one_changes_nothing():
    plain = Cluster.alike(3, Exponential(1.0))
    straggler = TransientStraggler(Exponential(1.0), 1.0, Exponential(4.0), Exponential(2.0))
    until = Until(jobs=300)

    usual = simulate(AsynchronousServer(), plain, until=until, seed=5)
    phased = simulate(AsynchronousServer(), Cluster.alike(3, straggler), until=until, seed=5)

    np.testing.assert_allclose(usual.rows.time, phased.rows.time, rtol=1e-12)
    assert np.array_equal(usual.rows.job, phased.rows.job)


def test_the_long_run_mean_is_exact():
    """Renewal reward: elapsed time / work -> 1 / speed.

    200 independent workers, 6 estimated standard errors: false-alarm rate 9e-9 by Student's t.
    The smallest error found is 2 %.
    """
    law = TransientStraggler(Exponential(0.5), 10.0, Exponential(8.0), Exponential(2.0))
    assert law.speed() == pytest.approx((8 + 0.2) / 10)
    means = []
    for worker in range(200):
        draw, now = phased_draws(law, 3, worker), 0.0
        for _ in range(1000):
            now += draw(now)
        means.append(now / 1000)

    error = np.std(means, ddof=1) / sqrt(len(means))
    assert abs(np.mean(means) - law.mean()) <= 6 * error
    assert 6 * error < 0.02 * law.mean()


def test_phases_do_not_change_the_work():
    """Phases have their own stream: a slower straggler does the same work in the same order."""
    laws = [
        TransientStraggler(Exponential(0.5), factor, Constant(1.0), Constant(1.0))
        for factor in (1.0, 50.0)
    ]
    fast, slow = (phased_draws(law, 3, 0) for law in laws)

    assert fast(0.0) == pytest.approx(_work_done(0.0, slow(0.0), 1.0, 1.0, 50.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: TransientStraggler(Constant(1), 0.5, Constant(1), Constant(1)),
            "TransientStraggler.factor must be a finite number >= 1, got 0.5.",
        ),
        (
            lambda: TransientStraggler(Constant(1), 2, Constant(0), Constant(1)),
            "TransientStraggler.normal must be a law with a finite mean > 0",
        ),
        (
            lambda: TransientStraggler(Constant(1), 2, Constant(1), Constant(0)),
            "TransientStraggler.slow must be a law",
        ),
    ],
)
def test_a_straggler_says_what_it_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()
