"""The asynchronous server: an independent reference, exact identities, queueing theory."""

import heapq
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap
from elastic_consistency.schedule.staleness import measure_staleness
from elastic_consistency.simulator import Cluster, Link, Payload, Until, Worker, simulate
from elastic_consistency.simulator.delays import (
    Constant,
    Exponential,
    Pareto,
    TransientStraggler,
)
from elastic_consistency.simulator.protocols import AsynchronousServer

DELAYS = st.one_of(st.sampled_from([0.0, 1.0, 200.0]), st.floats(0, 200, allow_subnormal=False))
SCRIPTS = st.lists(st.lists(DELAYS, min_size=1, max_size=6), min_size=1, max_size=6)


def _reference(compute, up, down, n_jobs):
    """(time, worker, first read) of each update, by an event list written on its own.

    compute, up and down hold the seconds of each worker's successive jobs. Ties go to the
    event that was put on the list first.
    """
    events, counter, reads, updates = [], 0, 0, []
    n, used = len(compute), [0] * len(compute)

    def read(worker, now):
        nonlocal counter, reads
        k = used[worker]
        end = now + (down[worker][k] + compute[worker][k])
        heapq.heappush(events, (end, counter, worker, "computed", reads))
        counter, reads, used[worker] = counter + 1, reads + 1, k + 1

    for worker in range(min(n, n_jobs)):
        read(worker, 0.0)
    while events:
        now, _, worker, what, job = heapq.heappop(events)
        travel = up[worker][used[worker] - 1]
        if what == "computed" and travel > 0:
            heapq.heappush(events, (now + travel, counter, worker, "arrived", job))
            counter += 1
            continue
        updates.append((now, worker, job))
        if reads < n_jobs:
            read(worker, now)
    return updates


def _updates(schedule):
    rows = schedule.rows
    add = np.flatnonzero(rows.op == Op.ADD)
    job = rows.job[add]
    return list(zip(rows.time[add].tolist(), schedule.jobs.worker[job].tolist(), job.tolist(),
                    strict=True))  # fmt: skip


@given(compute=SCRIPTS, up=SCRIPTS, down=SCRIPTS, n_jobs=st.integers(1, 40))
def test_it_equals_an_event_list_written_on_its_own(script, compute, up, down, n_jobs):
    n = len(compute)
    up, down = ([side[k % len(side)] for k in range(n)] for side in (up, down))
    workers = tuple(
        Worker(script(*c), uplink=Link(0.0, script(*u)), downlink=Link(0.0, script(*d)))
        for c, u, d in zip(compute, up, down, strict=True)
    )
    long = [[law[k % len(law)] for k in range(n_jobs)] for law in (*compute, *up, *down)]

    schedule = simulate(AsynchronousServer(), Cluster(workers), until=Until(jobs=n_jobs), seed=0)

    expected = _reference(long[:n], long[n : 2 * n], long[2 * n :], n_jobs)
    assert _updates(schedule) == expected
    schedule.check()
    AsynchronousServer().restate(schedule)


@given(compute=SCRIPTS, extra=st.integers(0, 40))
def test_without_latency_the_staleness_sums_to_what_theory_says(script, compute, extra):
    """(n - 1) T - n (n - 1) / 2, exactly, for adversarial delays: ties, zeros, 200 times."""
    n = len(compute)
    n_jobs = n + extra
    cluster = Cluster.of_laws(script(*law) for law in compute)

    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=n_jobs), seed=0)

    total = int(measure_staleness(schedule).steps.sum())
    assert total == (n - 1) * n_jobs - n * (n - 1) // 2


@pytest.mark.parametrize(
    "law",
    [
        Constant(1.0),
        Exponential(1.0),
        Pareto(1.0, 0.9),
        TransientStraggler(Exponential(1.0), 200.0, Exponential(20.0), Exponential(5.0)),
    ],
    ids=lambda law: type(law).__name__,
)
def test_the_staleness_sum_holds_for_every_law(law):
    n, n_jobs = 16, 3000

    schedule = simulate(AsynchronousServer(), Cluster.alike(n, law), until=Until(jobs=n_jobs),
                        seed=9)  # fmt: skip

    assert measure_staleness(schedule).steps.sum() == (n - 1) * n_jobs - n * (n - 1) // 2


def test_with_latency_the_staleness_sum_is_the_steps_times_other_jobs_in_flight(
    uneven_cluster, payload
):
    schedule = simulate(AsynchronousServer(), uneven_cluster, until=Until(jobs=400), seed=2,
                        payload=payload)  # fmt: skip
    rows = schedule.rows

    in_flight = np.cumsum((rows.op == Op.READ) * 1 - (rows.op == Op.ADD) * 1)
    others = in_flight[rows.op == Op.STEP]

    assert measure_staleness(schedule).steps.sum() == others.sum()


def test_the_started_gap_is_n_minus_1_whatever_the_straggler():
    """Aligned gradients of norm 1; the applied order would reach hundreds (design, section 9)."""
    laws = [Exponential(1.0)] * 7 + [Constant(200.0)]

    schedule = simulate(AsynchronousServer(), Cluster.of_laws(laws), until=Until(jobs=1600),
                        seed=3)  # fmt: skip

    assert largest_gap(compute_influence(schedule).started_difference()) == pytest.approx(7)
    assert measure_staleness(schedule).steps.max() > 1000


def test_one_worker_never_meets_a_stale_model():
    schedule = simulate(AsynchronousServer(), Cluster.alike(1, Exponential(1.0)),
                        until=Until(jobs=50), seed=1)  # fmt: skip

    assert measure_staleness(schedule).steps.tolist() == [0] * 50


def _independent_staleness(n, stride, kept, seed):
    """Staleness of every `stride`-th update, cut at stride - 1.

    Exponential workers finish in an order that is independent and uniform, and a cut staleness
    depends on the last `stride` places of that order only: the values are independent.
    """
    n_jobs = stride * (kept + 20)
    schedule = simulate(AsynchronousServer(), Cluster.alike(n, Exponential(1.0)),
                        until=Until(jobs=n_jobs), seed=seed)  # fmt: skip
    steps = measure_staleness(schedule).steps[10 * stride : (10 + kept) * stride : stride]
    return np.minimum(steps, stride - 1)


def test_the_staleness_of_exponential_workers_is_geometric():
    """P(tau = k) = (1/n)(1 - 1/n)^k, from the memoryless law (theory, section 2.5).

    Dvoretzky-Kiefer-Wolfowitz, false-alarm rate 1e-6; finds 0.027 in probability.
    """
    n, stride, kept = 4, 40, 10_000

    tau = _independent_staleness(n, stride, kept, seed=12)

    k = np.arange(stride - 1)
    measured = np.array([np.mean(tau <= value) for value in k])
    expected = 1 - (1 - 1 / n) ** (k + 1)
    assert np.abs(measured - expected).max() <= sqrt(log(2 / 1e-6) / (2 * kept))


def test_the_mean_damping_of_exponential_workers_is_log_n_over_n_minus_1():
    """E[1 / (1 + tau)], each in (0, 1]; Hoeffding, false-alarm rate 1e-6; finds 0.027."""
    n, stride, kept = 8, 40, 10_000

    tau = _independent_staleness(n, stride, kept, seed=13)

    cut = (1 - 1 / n) ** stride / stride  # what the cut can add to the mean
    error = abs(np.mean(1 / (1 + tau)) - log(n) / (n - 1))
    assert error <= sqrt(log(2 / 1e-6) / (2 * kept)) + cut


def test_the_time_of_one_exchange_is_down_compute_and_up():
    link = Link(0.5, bandwidth_bytes_per_s=100.0)
    cluster = Cluster((Worker(Constant(2.0), uplink=link, downlink=link),))

    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=2), seed=0,
                        payload=Payload(100.0, 25.0))  # fmt: skip

    assert schedule.rows.time[schedule.rows.op == Op.ENCODE].tolist() == [3.5, 7.75]
    assert schedule.rows.time[schedule.rows.op == Op.ADD].tolist() == [4.25, 8.5]
    assert schedule.jobs.begin.tolist() == [1.5, 5.75]


def test_more_workers_than_jobs_leaves_the_rest_idle():
    schedule = simulate(AsynchronousServer(), Cluster.alike(5, Constant(1.0)), until=Until(jobs=3),
                        seed=0)  # fmt: skip

    assert schedule.jobs.worker.tolist() == [0, 1, 2]
