"""Gossip against matrix powers, theory's constants, and the conservation of mass."""

from math import sqrt

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap, noise_gap
from elastic_consistency.simulator import (
    Cluster,
    Graph,
    Link,
    OnePeerExponential,
    Until,
    Worker,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import Gossip


def _matrix(topology, round=0):
    """W of one round, W[i, j] the weight with which i takes from j."""
    n = topology.n_nodes()
    mixing = np.zeros((n, n))
    for j in range(n):
        for i, weight in topology.receivers(j, round):
            mixing[i, j] = weight
        mixing[j, j] = 1 - mixing[:, j].sum()
    return mixing


def _reference_views(topology, rounds):
    """Coefficients of G_(s, j) in the view of (r, i): the product of W_s .. W_(r-1)."""
    n = topology.n_nodes()
    seen = np.zeros((rounds * n, rounds * n))
    for s in range(rounds):
        product = np.eye(n)
        for r in range(s + 1, rounds):
            product = _matrix(topology, r - 1) @ product
            seen[r * n : (r + 1) * n, s * n : (s + 1) * n] = product
    return seen


def _ordered_views(schedule):
    order = np.lexsort((schedule.jobs.worker, schedule.jobs.round))
    return compute_influence(schedule).views[order, 0][:, order]


TOPOLOGIES = {
    "ring": Graph.ring(8),
    "pair": Graph.ring(2),
    "star": Graph.of_networkx(nx.star_graph(5)),
    "random regular": Graph.of_networkx(nx.random_regular_graph(4, 12, seed=3)),
    "one peer of 8": OnePeerExponential(8),
    "one peer of 6": OnePeerExponential(6),
}


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES.keys())
def test_views_are_products_of_mixing_matrices_whatever_the_timing(topology):
    rounds, n = 7, topology.n_nodes()
    cluster = Cluster.alike(n, Exponential(1.0), link=Link(0.1, Exponential(0.5)))

    schedule = simulate(Gossip(topology), cluster, until=Until(jobs=rounds * n), seed=2)

    np.testing.assert_allclose(_ordered_views(schedule), _reference_views(topology, rounds),
                               atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES.keys())
def test_columns_and_rows_of_the_mixing_matrix_sum_to_one(topology):
    for round in range(3):
        mixing = _matrix(topology, round)
        np.testing.assert_allclose(mixing.sum(axis=0), 1)
        np.testing.assert_allclose(mixing.sum(axis=1), 1)
        for i in range(topology.n_nodes()):
            expected = tuple(np.flatnonzero(mixing[i] * (np.arange(len(mixing)) != i)))
            assert topology.senders(i, round) == expected


def _partial_sums(n, rounds):
    """(worst single node, worst rms over nodes) of the ring after some rounds, by powers of W."""
    mixing, power = _matrix(Graph.ring(n)), np.eye(n)
    single = rms = 0.0
    for _ in range(rounds):
        power = mixing @ power
        deviation = power - 1 / n
        single += np.abs(deviation).sum(axis=1).max()
        rms += np.linalg.norm(deviation, 2)
    return single, rms


@pytest.mark.parametrize(
    ("n", "single", "rms"), [(8, 5.3125, 4.12132), (16, 24.814, 18.70561)], ids=["8", "16"]
)
def test_a_ring_reaches_the_constants_of_theory(n, single, rms):
    """rho / (1 - rho) over nodes, and what a single node reaches (design, section 9)."""
    rounds = 40
    schedule = simulate(Gossip(Graph.ring(n)), Cluster.alike(n, Constant(1.0)),
                        until=Until(jobs=rounds * n), seed=0)  # fmt: skip

    gap = largest_gap(compute_influence(schedule).aggregate_difference())

    assert gap == pytest.approx(_partial_sums(n, rounds - 1)[0], abs=1e-9)
    limits = _partial_sums(n, 3000)
    rho = (1 + 2 * np.cos(2 * np.pi / n)) / 3
    assert limits[0] == pytest.approx(single, abs=5e-4)
    assert limits[1] == pytest.approx(rho / (1 - rho), abs=1e-9)
    assert limits[1] == pytest.approx(rms, abs=5e-6)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_one_peer_graph_reaches_its_worst_node_and_its_noise(k):
    """2k - 4 + 2^(2 - k) and sqrt(1 - (k + 1) / n) (theory, section 0), for k >= 2."""
    n = 2**k
    schedule = simulate(Gossip(OnePeerExponential(n)), Cluster.alike(n, Constant(1.0)),
                        until=Until(jobs=n * (3 * k + 1)), seed=0)  # fmt: skip

    difference = compute_influence(schedule).aggregate_difference()

    if k >= 2:
        assert largest_gap(difference) == pytest.approx(2 * k - 4 + 2.0 ** (2 - k), abs=1e-9)
    assert noise_gap(difference) == pytest.approx(sqrt(1 - (k + 1) / n), abs=1e-9)


@given(
    lag=st.integers(0, 3),
    nodes=st.integers(1, 7),
    scripts=st.lists(
        st.lists(st.sampled_from([0.5, 1.0, 9.0]), min_size=1, max_size=4), min_size=7, max_size=7
    ),
    jitter=st.lists(st.sampled_from([0.0, 1.0, 7.0]), min_size=1, max_size=5),
)
def test_mass_is_conserved_with_messages_in_flight(script, follow, lag, nodes, scripts, jitter):
    workers = tuple(Worker(script(*seconds)) for seconds in scripts[:nodes])
    protocol = Gossip(OnePeerExponential(nodes), lag)

    schedule = simulate(protocol, Cluster(workers, Link(0.0, script(*jitter))),
                        until=Until(jobs=6 * nodes), seed=0)  # fmt: skip

    schedule.check()
    protocol.restate(schedule)
    _, mass, _ = follow(schedule, lambda x: x, 0.1)
    assert not schedule.messages.in_flight.any()
    assert abs(mass.sum() - nodes) <= 1e-14 * nodes
    influence = compute_influence(schedule)
    np.testing.assert_allclose(influence.final, influence.shares, atol=1e-12)


def test_a_lag_hides_latency():
    cluster = Cluster((Worker(Constant(1.0)),) * 8, fabric=Link(2.5))

    ends = [
        simulate(
            Gossip(OnePeerExponential(8), lag), cluster, until=Until(jobs=160), seed=0
        ).rows.time[-1]
        for lag in (0, 1, 3)
    ]

    assert ends[0] == pytest.approx(20 * 3.5)
    assert ends[2] == pytest.approx(20 + 2.5)
    assert ends[0] > ends[1] > ends[2]


def test_a_node_waits_for_its_neighbours_only():
    """On a path a slow node at one end is felt one node further with each round."""
    graph = Graph.of_networkx(nx.path_graph(5))
    laws = [Constant(10.0)] + [Constant(1.0)] * 4

    schedule = simulate(Gossip(graph), Cluster.of_laws(laws), until=Until(jobs=25), seed=0)

    rows, jobs = schedule.rows, schedule.jobs
    reads = {
        (int(jobs.worker[j]), int(jobs.round[j])): t
        for j, t in zip(rows.job[rows.op == Op.READ], rows.time[rows.op == Op.READ], strict=True)
    }
    assert [reads[w, 1] for w in range(5)] == [10, 10, 1, 1, 1]
    assert [reads[w, 2] for w in range(5)] == [20, 20, 11, 2, 2]


def test_the_topology_must_fit_the_cluster():
    with pytest.raises(ValueError, match=r"Gossip.topology must be a topology of the 3 workers"):
        simulate(
            Gossip(Graph.ring(4)), Cluster.alike(3, Constant(1.0)), until=Until(jobs=9), seed=0
        )
    with pytest.raises(ValueError, match=r"Graph.neighbours must be for each node"):
        Graph(((1,), ()))


def test_overlap_with_fixed_delays_reaches_its_mass_and_its_gap():
    """n = 8, tau = 3, every message late by 2.5 rounds: least mass 1/8 (theory, section 5.3).

    4.0 is the gap for gradients that are all equal; signs at their worst reach five times that,
    because a view x / mass weighs some updates with more than their share.
    """
    cluster = Cluster((Worker(Constant(1.0)),) * 8, fabric=Link(2.5))
    schedule = simulate(Gossip(OnePeerExponential(8), 3), cluster, until=Until(jobs=320), seed=0)

    difference = compute_influence(schedule).aggregate_difference()

    mass, sent, least = np.ones(8), {}, 1.0
    rows = schedule.rows
    for k in np.flatnonzero(np.isin(rows.op, (Op.READ, Op.PUT, Op.MIX))):
        replica, message = rows.replica[k], rows.message[k]
        if rows.op[k] == Op.READ:
            least = min(least, mass[replica])
        elif rows.op[k] == Op.PUT:
            sent[message] = rows.weight[k] * mass[replica]
            mass[replica] *= rows.keep[k]
        else:
            mass[replica] += rows.weight[k] * sent[message]
    assert least == 0.125
    assert np.abs(difference.sum(axis=-1)).max() == pytest.approx(4.0, abs=1e-9)
    assert largest_gap(difference) > 20
