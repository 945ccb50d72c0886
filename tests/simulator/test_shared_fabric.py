"""All transfers between workers share one bandwidth: collectives, copies and pairs."""

from dataclasses import replace

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    Flat,
    Graph,
    Link,
    Payload,
    Ring,
    Tree,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.network.transfers import PeerNetwork
from elastic_consistency.simulator.protocols import AllReduce, PairwiseAveraging

LINK = Link(0.25, bandwidth_bytes_per_s=64.0)


def _cluster(p, link=LINK, rate=32.0, seconds=1.0):
    alike = Cluster.alike(p, Constant(seconds), link=link)
    return replace(alike, fabric_bandwidth_bytes_per_s=rate)


@pytest.mark.parametrize(
    ("collective", "p", "seconds"),
    [
        (Ring(), 8, 2 * 7 * (0.25 + 16 / 64 + 8 * 16 / 32)),
        (Tree(), 8, 2 * (3 * (0.25 + 128 / 64) + (4 + 2 + 1) * 128 / 32)),
        (Tree(), 6, 2 * (3 * (0.25 + 128 / 64) + (3 + 1 + 1) * 128 / 32)),
        (Flat(), 4, 2 * (0.25 + 128 / 64 + 3 * 128 / 32)),
        (Ring(), 1, 0.0),
        (Tree(), 1, 0.0),
        (Flat(), 1, 0.0),
    ],
)
def test_a_collective_takes_what_its_closed_form_says(collective, p, seconds):
    """Transfers of a step leave at once, and each of n at a time gets 1/n of the fabric."""
    schedule = simulate(AllReduce(collective), _cluster(p), until=Until(jobs=p), seed=0,
                        payload=Payload(0.0, 128.0))  # fmt: skip

    assert schedule.rows.time[schedule.rows.op == Op.STEP] == pytest.approx(1.0 + seconds)


def _send_in_steps(p, steps, link, rate, n_bytes):
    """Seconds of `steps`, lists of (sender, receiver, seconds later), on SimPy, one by one."""
    env = simpy.Environment()
    network = PeerNetwork(_cluster(p, link, rate), 0, env=env)
    for step in steps:
        for sender, receiver, later in step:
            network.send(sender, receiver, n_bytes, lambda: None, later=later)
        env.run()
    return env.now


@given(
    p=st.integers(2, 17),
    n_bytes=st.floats(1.0, 1e3),
    bandwidth=st.sampled_from([16.0, 64.0, 1e3]),
    rate=st.sampled_from([8.0, 64.0, 1e4]),
)
def test_closed_forms_are_what_happens_transfer_by_transfer(p, n_bytes, bandwidth, rate):
    link = Link(0.25, bandwidth_bytes_per_s=bandwidth)
    ring = [[(i, (i + 1) % p, 0.0) for i in range(p)]] * (2 * (p - 1))
    levels = [
        [(i + (1 << k), i, 0.0) for i in range(0, p - (1 << k), 2 << k)]
        for k in range((p - 1).bit_length())
    ]
    # On the way to worker 0 the link takes one after another, whoever sends.
    flat = [[(i, 0, (i - 1) * n_bytes / bandwidth) for i in range(1, p)]] * 2

    for collective, steps, size in (
        (Ring(), ring, n_bytes / p),
        (Tree(), levels * 2, n_bytes),
        (Flat(), flat, n_bytes),
    ):
        form = collective.closed_form(p, link, n_bytes, shared_bytes_per_s=rate)
        assert form == pytest.approx(_send_in_steps(p, steps, link, rate, size), rel=1e-9)


@given(p=st.integers(1, 33), n_bytes=st.floats(0, 1e4))
def test_a_fabric_without_limit_changes_nothing(p, n_bytes):
    for collective in (Ring(), Tree(), Flat()):
        alone = collective.closed_form(p, LINK, n_bytes)
        assert collective.closed_form(p, LINK, n_bytes, shared_bytes_per_s=1e300) == alone


def test_newcomers_share_the_fabric_for_their_copies():
    """Two come back for one copy each: 0.25 s, 8 B / 64 B/s, and together 16 B / 32 B/s."""
    faults = FaultScript((Crash(1, 1.5, 0.25), Crash(2, 1.5, 0.25)))
    cluster = replace(_cluster(3), faults=faults)

    schedule = simulate(AllReduce(), cluster, until=Until(jobs=7), seed=0,
                        payload=Payload(8.0, 0.0))  # fmt: skip

    schedule.check()
    rows = schedule.rows
    steps = rows.time[(rows.op == Op.STEP) & (rows.replica == 0)]
    mixes = rows.time[rows.op == Op.MIX]
    assert mixes.tolist() == [steps[1] + 0.25 + 8 / 64 + 16 / 32] * 2


def test_two_pairs_at_once_take_twice_as_long_on_the_fabric():
    """Both nodes ask at 1 s: 0.25 s + 8 B / 64 B/s on the link, 16 B / 32 B/s shared, and back."""
    protocol = PairwiseAveraging(Graph.ring(2))

    schedule = simulate(protocol, _cluster(2), until=Until(jobs=2), seed=0,
                        payload=Payload(8.0, 8.0))  # fmt: skip

    schedule.check()
    protocol.restate(schedule)
    met = schedule.rows.time[schedule.rows.op == Op.MIX]
    assert met.tolist() == [1 + 2 * (0.25 + 8 / 64 + 16 / 32)] * 4


def test_a_pair_that_is_cut_by_a_crash_frees_the_fabric():
    """Node 0 asks at 1 s and dies at 1.5 s: node 1, which asks at 3 s, finds nobody and steps."""
    cluster = Cluster.of_laws([Constant(1.0), Constant(3.0)], link=LINK)
    cluster = replace(cluster, fabric_bandwidth_bytes_per_s=32.0)
    cluster = replace(cluster, faults=FaultScript((Crash(0, 1.5),)))
    protocol = PairwiseAveraging(Graph.ring(2))

    schedule = simulate(protocol, cluster, until=Until(jobs=4), seed=0, payload=Payload(8.0, 8.0))

    protocol.restate(schedule)
    rows = schedule.rows
    assert rows.time[rows.op == Op.STEP].tolist() == [3, 6, 9]


def test_links_that_are_not_alike_are_refused_on_a_shared_fabric():
    jittery = _cluster(4, replace(LINK, jitter=Exponential(0.1)))

    with pytest.raises(ValueError, match=r"give it a cluster without Cluster\.fabric_bandwidth"):
        simulate(AllReduce(), jittery, until=Until(jobs=8), seed=0, payload=Payload(8.0, 8.0))
