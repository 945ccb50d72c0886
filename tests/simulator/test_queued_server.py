"""The queue in front of the server is the machine-repair problem."""

from math import factorial, sqrt

import numpy as np
import pytest
from scipy import stats

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer, QueuedServer
from elastic_consistency.simulator.protocols.queued_server import saturation_workers


def _machine_repair_throughput(n, think_s, service_s):
    """Updates a second of the closed M/M/1 queue with n customers, from its balance equations."""
    load = service_s / think_s
    weights = [factorial(n) / factorial(n - k) * load**k for k in range(n + 1)]
    return (1 - weights[0] / sum(weights)) / service_s


@pytest.mark.parametrize(("n", "service_s"), [(3, 0.2), (6, 0.3), (12, 0.3)])
def test_the_throughput_is_that_of_the_machine_repair_model(n, service_s):
    """Student's t over 40 independent runs; false-alarm rate 1e-6; finds 3 %."""
    runs, rates = 40, []
    for seed in range(runs):
        cluster = Cluster.alike(n, Exponential(1.0))
        server = QueuedServer(Exponential(service_s))
        schedule = simulate(server, cluster, until=Until(jobs=1200), seed=seed)
        times = schedule.rows.time[schedule.rows.op == Op.STEP]
        rates.append(1000 / (times[1100] - times[100]))

    error = np.std(rates, ddof=1) / sqrt(runs)
    limit = stats.t.isf(0.5e-6, runs - 1) * error
    # The mean of a rate exceeds the rate of the mean by at most the relative variance.
    bias = np.var(rates) / np.mean(rates)
    expected = _machine_repair_throughput(n, 1.0, service_s)
    assert abs(np.mean(rates) - expected) <= limit + bias
    assert limit < 0.04 * expected


@pytest.mark.parametrize("n", [1, 4, 5, 20])
def test_with_constant_times_the_asymptotes_are_exact(n):
    """min(n / (Z + S), 1 / S) with Z = 2, S = 0.5; the knee is at five workers."""
    think, service = 2.0, 0.5
    cluster = Cluster.of_laws(Constant(think) for _ in range(n))

    schedule = simulate(QueuedServer(Constant(service)), cluster, until=Until(jobs=100 * n), seed=0)

    times = schedule.rows.time[schedule.rows.op == Op.STEP]
    periods = 40
    rate = periods * n / (times[(10 + periods) * n] - times[10 * n])
    assert rate == pytest.approx(min(n / (think + service), 1 / service))
    assert saturation_workers(think, service) == 5


def test_a_service_that_takes_no_time_is_the_asynchronous_server(uneven_cluster, payload):
    arguments = {"until": Until(jobs=200), "seed": 1, "payload": payload}

    queued = simulate(QueuedServer(Constant(0.0)), uneven_cluster, **arguments)

    assert queued.digest() == simulate(AsynchronousServer(), uneven_cluster, **arguments).digest()


def test_updates_are_served_in_the_order_of_arrival():
    schedule = simulate(QueuedServer(Exponential(0.5)), Cluster.alike(5, Exponential(1.0)),
                        until=Until(jobs=200), seed=2)  # fmt: skip

    rows = schedule.rows
    assert np.array_equal(rows.job[rows.op == Op.ENCODE], rows.job[rows.op == Op.ADD])
