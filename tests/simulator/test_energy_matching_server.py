"""The server of gradient energy matching: pull before every commit."""

from collections import deque

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import GEM, PrintedGEM, SignedGEM
from elastic_consistency.schedule import Op, ScheduleError
from elastic_consistency.simulator import Cluster, Link, Payload, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer, EnergyMatchingServer

N = 4
LINKS = [Link(), Link(0.3), Link(2.5), Link(0.1, Exponential(0.4))]
BOTH = pytest.mark.parametrize("ahead", [False, True])


@BOTH
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("until", [Until(jobs=90), Until(time_s=17.0), Until(jobs=50, drain=False)])
def test_a_schedule_is_valid_and_is_what_its_protocol_says(ahead, link, until):
    protocol = EnergyMatchingServer(ahead=ahead)
    cluster = Cluster.alike(N, Exponential(1.0), link=link)

    schedule = simulate(protocol, cluster, until=until, seed=3, payload=Payload(1.0, 1.0))

    schedule.check()
    protocol.restate(schedule)


@BOTH
def test_ties_and_zeros_are_valid_too(ahead):
    laws = [Constant(0.0), Constant(1.0), Constant(1.0), Constant(200.0)]
    protocol = EnergyMatchingServer(ahead=ahead)

    schedule = simulate(protocol, Cluster.of_laws(laws), until=Until(jobs=60), seed=0)

    schedule.check()
    protocol.restate(schedule)


@BOTH
def test_without_latency_updates_arrive_when_those_of_the_asynchronous_server_do(ahead):
    cluster = Cluster.alike(N, Exponential(1.0))
    protocols = (EnergyMatchingServer(ahead=ahead), AsynchronousServer())

    rows = [simulate(p, cluster, until=Until(jobs=80), seed=2).rows for p in protocols]

    at_server = [(r.op == Op.ADD) & (r.replica == 0) for r in rows]
    assert np.array_equal(rows[0].time[at_server[0]], rows[1].time[at_server[1]])
    assert np.array_equal(rows[0].worker[at_server[0]], rows[1].worker[at_server[1]])


def test_the_asynchronous_server_does_not_pull_before_it_commits():
    schedule = simulate(AsynchronousServer(), Cluster.alike(2, Constant(1.0)), until=Until(jobs=9),
                        seed=0)  # fmt: skip

    with pytest.raises(ScheduleError):
        EnergyMatchingServer().restate(schedule)


def _algorithm_1(curvature, eta, mu, n, steps):
    """As printed, workers in turn: m, pi and the pulls written out."""
    theta = np.ones(len(curvature))
    workers = deque([theta.copy(), np.zeros(len(curvature))] for _ in range(n))
    for _ in range(steps):
        s, m = workers.popleft()
        delta = -eta * curvature * s
        m = mu * m + delta
        pi = (np.abs(m) - np.abs(theta - s)) / (np.abs(delta) + 1e-16)
        workers.append([theta.copy(), m])
        theta = theta + pi * delta
    return theta


def _authors_program(curvature, eta, mu, n, steps):
    """As their program runs, workers in turn: clamp, and the gradient at pull plus commit."""
    theta = np.ones(len(curvature))
    workers = deque([theta.copy(), theta.copy(), np.zeros(len(curvature))] for _ in range(n))
    for _ in range(steps):
        point, pulled, m = workers.popleft()
        gradient = curvature * point
        m = mu * m - eta * gradient
        room = np.abs(m) - np.abs(theta - pulled)
        pi = np.clip(room / (eta * np.abs(gradient + 1e-12)), 0, 5)
        commit = -eta * pi * gradient
        workers.append([theta + commit, theta.copy(), m])
        theta = theta + commit
    return theta


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    ("ahead", "rule", "reference"),
    [
        (False, PrintedGEM(0.05, 0.9), _algorithm_1),
        (True, GEM(0.05, 0.9), _authors_program),
    ],
)
def test_rules_on_it_are_the_published_algorithms(n, ahead, rule, reference):
    curvature, steps = np.linspace(0.1, 1.0, 5), 24
    cluster = Cluster.alike(n, Constant(1.0))
    protocol = EnergyMatchingServer(ahead=ahead)

    schedule = simulate(protocol, cluster, until=Until(jobs=steps), seed=0)
    model = execute(schedule, Quadratic(curvature), rule, seeds=(0,)).models[0][0]

    np.testing.assert_allclose(model, reference(curvature, 0.05, 0.9, n, steps), rtol=1e-9)


@pytest.mark.parametrize(("rule", "ahead"), [(GEM(0.1, 0.5), True), (SignedGEM(0.1, 0.5), True)])
def test_a_single_worker_moves_as_fast_as_its_energies_say(rule, ahead):
    """Constant gradient: the proxy moves by eta / (1 - mu) a step, GEM by n / (n + 1) of it."""
    steps = 200
    schedule = simulate(EnergyMatchingServer(ahead=ahead), Cluster.alike(1, Constant(1.0)),
                        until=Until(jobs=steps), seed=0)  # fmt: skip

    model = execute(schedule, Linear(np.ones(1)), rule, seeds=(0,)).models[0][0, 0]

    speed = -model / steps / (0.1 / (1 - 0.5))
    assert speed == pytest.approx(0.5 if isinstance(rule, GEM) else 1.0, abs=0.02)
