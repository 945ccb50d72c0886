"""Local steps: on a server (Downpour, normalised) and without one (local SGD)."""

from math import sqrt

import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap, noise_gap
from elastic_consistency.simulator import Cluster, Link, Tree, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousServer,
    LocalSgd,
    LocalStepsServer,
)


def test_a_window_of_one_step_is_the_asynchronous_server():
    cluster, until = Cluster.alike(4, Exponential(1.0)), Until(jobs=60)

    local = simulate(LocalStepsServer(1), cluster, until=until, seed=1)

    plain = simulate(AsynchronousServer(), cluster, until=until, seed=1)
    assert np.array_equal(compute_influence(local).views, compute_influence(plain).views)


@pytest.mark.parametrize("normalised", [False, True])
def test_one_worker_commits_its_steps_as_written_in_the_paper(normalised, follow):
    """x <- x - sum (or mean) of the steps taken on a copy, for f = x^2 / 2."""
    window, step_size, commits = 3, 0.25, 5
    protocol = LocalStepsServer(window, normalised=normalised)
    schedule = simulate(protocol, Cluster.alike(1, Constant(1.0)),
                        until=Until(jobs=window * commits), seed=0)  # fmt: skip

    replicas, _, _ = follow(schedule, lambda x: x, step_size)

    x = 1.0
    for _ in range(commits):
        copy, total = x, 0.0
        for _ in range(window):
            total += copy
            copy -= step_size * copy
        x -= step_size * total / (window if normalised else 1)
    assert replicas[0] == pytest.approx(x, rel=1e-12)


def test_local_sgd_reaches_its_noise_constant():
    """sqrt((H - 1)(n - 1) / n) = 1.73205 for H = 5, n = 4 (design, section 9)."""
    schedule = simulate(LocalSgd(5), Cluster.alike(4, Exponential(1.0)), until=Until(jobs=100),
                        seed=1)  # fmt: skip

    difference = compute_influence(schedule).aggregate_difference()

    assert noise_gap(difference) == pytest.approx(sqrt(4 * 3 / 4), abs=1e-9)
    assert noise_gap(difference) == pytest.approx(1.7320508, abs=1e-7)


def test_an_average_after_every_step_is_all_reduce():
    cluster, until = Cluster.alike(4, Exponential(1.0)), Until(jobs=60)

    local = simulate(LocalSgd(1), cluster, until=until, seed=1)

    reduced = simulate(AllReduce(), cluster, until=until, seed=1)
    views = compute_influence(local).views
    np.testing.assert_allclose(views, compute_influence(reduced).views, atol=1e-12)
    assert largest_gap(compute_influence(local).aggregate_difference()) <= 1e-12
    assert local.rows.time[-1] == reduced.rows.time[-1]


def test_the_mean_of_the_replicas_holds_every_job_with_its_share():
    schedule = simulate(LocalSgd(4), Cluster.alike(3, Exponential(1.0)), until=Until(jobs=60),
                        seed=1)  # fmt: skip

    influence = compute_influence(schedule)

    np.testing.assert_allclose(influence.final, influence.shares, atol=1e-12)


def test_local_sgd_communicates_once_a_window():
    cluster = Cluster((Worker(Constant(1.0)),) * 4, fabric=Link(0.5))

    schedule = simulate(LocalSgd(5, Tree()), cluster, until=Until(jobs=40), seed=0)

    assert schedule.rows.time[schedule.rows.op == Op.MIX].tolist() == [7.0] * 4 + [14.0] * 4
