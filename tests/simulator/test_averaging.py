"""Pairwise and elastic averaging: atomic, mean-preserving, stable up to the stated limit."""

from collections import Counter
from math import log, sqrt

import networkx as nx
import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence
from elastic_consistency.simulator import Cluster, Graph, Link, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import (
    AsynchronousElasticAveraging,
    ElasticAveraging,
    Order,
    PairwiseAveraging,
)

MEAN_PRESERVING = [
    PairwiseAveraging(Graph.ring(4)),
    PairwiseAveraging(Graph.ring(4), bipartite=True),
    ElasticAveraging(0.25),
    ElasticAveraging(0.1, Order.STEP_THEN_EXCHANGE),
    AsynchronousElasticAveraging(0.4, 3),
    AsynchronousElasticAveraging(0.4, 1, Order.STEP_THEN_EXCHANGE),
]


def _meetings(schedule):
    rows = schedule.rows
    put = rows.replica[rows.op == Op.PUT]
    return list(zip(put[::2].tolist(), put[1::2].tolist(), strict=True))


@pytest.mark.parametrize("protocol", MEAN_PRESERVING, ids=str)
def test_the_mean_of_all_replicas_holds_every_job_with_its_share(protocol):
    link = Link(0.0, Exponential(0.3))
    cluster = Cluster((Worker(Exponential(1.0), 1.0, link, link),) * 4, fabric=link)
    until = Until(jobs=80)
    if isinstance(protocol, AsynchronousElasticAveraging):
        cluster = Cluster.alike(4, Exponential(1.0))  # with latency two exchanges overlap

    influence = compute_influence(simulate(protocol, cluster, until=until, seed=1))

    np.testing.assert_allclose(influence.final, influence.shares, atol=1e-12)


def test_partners_are_neighbours_chosen_uniformly():
    """Hoeffding for each node's two neighbours; false-alarm rate 1e-6 over all; finds 0.06."""
    n, jobs = 6, 12_000
    graph = Graph.of_networkx(nx.cycle_graph(n))

    schedule = simulate(PairwiseAveraging(graph), Cluster.alike(n, Exponential(1.0)),
                        until=Until(jobs=jobs), seed=1)  # fmt: skip

    counts = Counter(_meetings(schedule))
    for node in range(n):
        left, right = counts[node, (node - 1) % n], counts[node, (node + 1) % n]
        total = left + right
        assert abs(left / total - 0.5) <= sqrt(log(2 * n / 1e-6) / (2 * total))
    assert sum(counts.values()) == jobs


def test_on_a_bipartite_graph_one_side_asks():
    protocol = PairwiseAveraging(Graph.ring(6), bipartite=True)

    schedule = simulate(protocol, Cluster.alike(6, Exponential(1.0)), until=Until(jobs=300), seed=1)

    assert {asking for asking, _ in _meetings(schedule)} == {0, 2, 4}
    with pytest.raises(ValueError, match=r"PairwiseAveraging.graph must be connected and bipart"):
        PairwiseAveraging(Graph.ring(5), bipartite=True)


def test_a_pairwise_gradient_is_stale_when_it_is_applied():
    """Written as in the paper: compute at a copy, average, then step; two nodes in turn."""
    laws = [Constant(1.0), Constant(1.5)]
    schedule = simulate(PairwiseAveraging(Graph.ring(2)), Cluster.of_laws(laws),
                        until=Until(jobs=3), seed=0)  # fmt: skip

    views = compute_influence(schedule).views[:, 0]

    # At 1 s node 0 averages and applies job 0; at 1.5 s node 1 averages, then applies job 1.
    assert views.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    ends = compute_influence(schedule).final[0]
    np.testing.assert_allclose(ends, [0.5, 0.5, 0.5])


@pytest.mark.parametrize("step_size", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("kind", ["rounds", "asynchronous"])
def test_one_elastic_worker_is_stable_up_to_the_limit(step_size, kind, follow):
    """a = (4 - 2 e) / (4 - e): stable at .98 of it, divergent at 1.02 (design, section 9)."""
    limit = (4 - 2 * step_size) / (4 - step_size)
    ends = []
    for part in (0.98, 1.02):
        a = part * limit
        protocol = ElasticAveraging(a) if kind == "rounds" else AsynchronousElasticAveraging(a)
        schedule = simulate(
            protocol, Cluster.alike(1, Constant(1.0)), until=Until(jobs=1500), seed=0
        )
        ends.append(np.abs(follow(schedule, lambda x: x, step_size)[0]).max())

    assert ends[0] < 1e-3
    assert ends[1] > 1e3


def test_the_order_of_the_thesis_is_stable_where_the_other_is_not(follow):
    """Step first: (4 - 2 e) / (4 - 3 e), which is 1.2 for e = .5, so that every a <= 1 is."""
    ends = []
    for order in Order:
        protocol = AsynchronousElasticAveraging(0.95, 1, order)
        schedule = simulate(
            protocol, Cluster.alike(1, Constant(1.0)), until=Until(jobs=800), seed=0
        )
        ends.append(np.abs(follow(schedule, lambda x: x, 0.5)[0]).max())

    assert ends[0] > 1e3
    assert ends[1] < 1e-6


def test_elastic_rounds_equal_the_equations_of_the_paper(follow):
    """Equations 5 and 6 with n = 3 on f = x^2 / 2 with a gradient of its own for each worker."""
    a, step_size, rounds = 0.2, 0.3, 6
    schedule = simulate(ElasticAveraging(a), Cluster.alike(3, Exponential(1.0)),
                        until=Until(jobs=3 * rounds), seed=0)  # fmt: skip

    replicas, _, _ = follow(schedule, lambda x: x - 2.0, step_size)

    centre, workers = 1.0, np.ones(3)
    for _ in range(rounds):
        gradients = workers - 2.0
        centre, workers = (
            centre + a * np.sum(workers - centre),
            workers - step_size * gradients - a * (workers - centre),
        )
    np.testing.assert_allclose(replicas, [centre, *workers], rtol=1e-12)
