"""Backup workers and Rennala: batches at one model, in the order of arrival."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap
from elastic_consistency.schedule.staleness import measure_staleness
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AllReduce, BackupWorkers, Rennala, Ringmaster


def _step_times(schedule):
    return schedule.rows.time[schedule.rows.op == Op.STEP]


def test_needing_everybody_is_all_reduce():
    cluster, until = Cluster.alike(5, Exponential(1.0)), Until(jobs=60)

    backup = simulate(BackupWorkers(5), cluster, until=until, seed=3)

    reduced = simulate(AllReduce(), cluster, until=until, seed=3)
    assert np.array_equal(_step_times(backup), _step_times(reduced)[::5])
    assert not (backup.jobs.share == 0).any()


def test_an_interrupted_round_lasts_as_long_as_an_order_statistic():
    """E[k-th of n] = sum of 1/i, i = n - k + 1 .. n; 5.5 standard errors, false alarms 4e-8.

    10,000 rounds; the smallest error found is 3 %.
    """
    n, k, rounds = 6, 4, 10_000
    until = Until(jobs=n * rounds)

    schedule = simulate(BackupWorkers(k, interrupt=True), Cluster.alike(n, Exponential(1.0)),
                        until=until, seed=5)  # fmt: skip

    times = _step_times(schedule)[: rounds - n]
    i = np.arange(n - k + 1, n + 1)
    error = sqrt(np.sum(1 / i**2) / len(times))
    assert abs(times[-1] / len(times) - np.sum(1 / i)) <= 5.5 * error


@given(
    seconds=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    batch=st.integers(1, 12),
)
def test_the_first_batch_is_complete_when_theory_says(seconds, batch):
    """The smallest t with sum over workers of floor(t / seconds) >= batch (theory, section 6)."""
    cluster = Cluster.of_laws(Constant(float(s)) for s in seconds)

    schedule = simulate(Rennala(batch), cluster, until=Until(jobs=batch * 9 + 9), seed=0)

    complete = next(t for t in range(200) if sum(t // s for s in seconds) >= batch)
    assert _step_times(schedule)[0] == complete


def test_a_batch_of_one_is_ringmaster_with_threshold_one():
    cluster, until = Cluster.alike(4, Exponential(1.0)), Until(jobs=200)

    one, other = (simulate(p, cluster, until=until, seed=2) for p in (Rennala(1), Ringmaster(1)))

    assert np.array_equal(one.rows.time, other.rows.time)
    assert np.array_equal(one.rows.op, other.rows.op)
    assert np.array_equal(one.jobs.share, other.jobs.share)


@pytest.mark.parametrize(
    "protocol", [Rennala(7), BackupWorkers(3), BackupWorkers(3, interrupt=True)], ids=str
)
def test_what_is_applied_is_never_stale_and_every_view_is_the_aggregate(protocol):
    schedule = simulate(protocol, Cluster.alike(4, Exponential(1.0)), until=Until(jobs=160), seed=1)

    assert not measure_staleness(schedule).steps.any()
    assert largest_gap(compute_influence(schedule).aggregate_difference()) <= 1e-12
    assert (schedule.jobs.share == 0).any()


def test_more_updates_than_workers_cannot_be_needed():
    with pytest.raises(ValueError, match=r"BackupWorkers.needed must be at most the 2 workers"):
        simulate(BackupWorkers(3), Cluster.alike(2, Constant(1.0)), until=Until(jobs=9), seed=0)
