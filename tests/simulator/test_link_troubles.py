"""Losses, other traffic, partitions and shared bandwidth, on links between any two machines."""

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    BackgroundTraffic,
    Cluster,
    Crash,
    FaultScript,
    GilbertElliott,
    Graph,
    Link,
    Partition,
    Payload,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.network.link_troubles import LinkTroubles, pair_address
from elastic_consistency.simulator.phase_log import PhaseLog
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer, Gossip


def _in_turn(values):
    """A draw that gives `values` again and again."""
    given_so_far = iter(range(10**9))
    return lambda _: values[next(given_so_far) % len(values)]


@given(
    lengths=st.tuples(*[st.lists(st.integers(1, 9), min_size=1, max_size=4)] * 2),
    speeds=st.tuples(st.sampled_from([0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.125, 0.5])),
    asked=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), min_size=1, max_size=5),
)
def test_a_phase_log_equals_a_walk_in_small_steps(lengths, speeds, asked):
    """All numbers are multiples of 1/8, so that steps of 1/8 are exact; asked in any order."""
    log = PhaseLog((_in_turn(lengths[0]), _in_turn(lengths[1])), speeds)

    walk, draws = [], [_in_turn(lengths[0]), _in_turn(lengths[1])]
    while len(walk) < 8 * 2000:
        for kind in (0, 1):
            walk += [speeds[kind]] * (8 * draws[kind](0.0))
    for begin, work in asked:
        done, ticks = 0.0, 8 * begin
        while done < work:
            done += walk[ticks] / 8
            ticks += 1
        taken = log.elapsed(float(begin), float(work))
        assert taken <= ticks / 8 - begin + 1e-9
        assert work == 0 or taken > ticks / 8 - begin - 1 / 8 - 1e-9


def test_background_traffic_takes_its_share_while_it_lasts():
    """Idle to 2 s, then busy at share .75 to 6 s: 4 s of work take 2 + 4 + 1 s from 0 on."""
    background = BackgroundTraffic(0.75, Constant(2.0), Constant(4.0))
    troubles = LinkTroubles(
        Link(0.5, bandwidth_bytes_per_s=10.0, background=background), FaultScript(), 0, 0, 1
    )

    assert troubles.seconds(0.0, 4.5, 40.0) == pytest.approx(7.5)
    assert troubles.seconds(0.0, 1.5, 10.0) == pytest.approx(1.5)
    assert background.speed() == pytest.approx((2 + 0.25 * 4) / 6)


def test_in_the_long_run_background_traffic_costs_its_mean():
    """Back to back transfers: renewal cycles, 6 estimated errors, false-alarm rate 2e-9."""
    background = BackgroundTraffic(0.5, Exponential(1.0), Exponential(3.0))
    link = Link(bandwidth_bytes_per_s=1.0, background=background)
    troubles, now, n = LinkTroubles(link, FaultScript(), 3, -1, 2), 0.0, 40_000

    for _ in range(n):
        now += troubles.seconds(now, 0.3, 0.3)

    # Renewals: work of a cycle minus speed times its length is .375 idle - .125 busy.
    error = sqrt(now / 4) * sqrt((0.375 * 1) ** 2 + (0.125 * 3) ** 2) / background.speed()
    assert abs(now - n * link.mean_seconds(0.3)) <= 6 * error
    assert 6 * error < 0.03 * now


@pytest.mark.parametrize("loss", [0.3, GilbertElliott(0.1, 0.4)], ids=["even", "bursts"])
def test_a_lossy_link_costs_its_mean_and_nothing_else(loss):
    """Mean transmissions 1 / (1 - loss): 6 estimated errors, false-alarm rate 2e-9; finds 3 %."""
    link = Link(0.25, loss=loss, resend_s=2.0)
    troubles = LinkTroubles(link, FaultScript(), 5, 0, -1)

    taken = np.array([troubles.seconds(0.0, 0.25, 0.0) for _ in range(100_000)])

    batches = taken.reshape(200, -1).mean(1)
    error = batches.std() / sqrt(len(batches))
    assert abs(taken.mean() - link.mean_seconds(0.0)) <= 6 * error
    assert np.unique((taken - 0.25) % 2.0).max() == pytest.approx(0.0)


def test_no_two_pairs_share_a_stream_and_none_is_a_workers():
    pairs = [(s, r) for s in range(-1, 30) for r in range(-1, 30) if s != r]

    addresses = {pair_address(*pair) for pair in pairs}

    assert len(addresses) == len(pairs)
    assert min(addresses) >= 1 << 24


@pytest.mark.parametrize("n", [3, 5, 8])
def test_n_transfers_between_workers_share_the_fabric(n):
    """On a ring all 2 n messages leave at 1 s: the round is over after 2 n bytes / bandwidth."""
    cluster = replace(Cluster.alike(n, Constant(1.0)), fabric_bandwidth_bytes_per_s=100.0)

    schedule = simulate(Gossip(Graph.ring(n)), cluster, until=Until(jobs=2 * n), seed=0,
                        payload=Payload(10.0, 10.0))  # fmt: skip

    schedule.check()
    mixed = schedule.rows.time[schedule.rows.op == Op.MIX]
    np.testing.assert_allclose(mixed[: 2 * n], 1.0 + 2 * n * 0.1)
    np.testing.assert_allclose(mixed[2 * n :], 2.0 + 4 * n * 0.1)


def test_a_transfer_that_is_alone_gets_the_whole_fabric():
    """Node 0 is done 10 s before node 1: its message takes bytes / bandwidth, as does the other."""
    cluster = Cluster.of_laws([Constant(1.0), Constant(11.0)])
    cluster = replace(cluster, fabric_bandwidth_bytes_per_s=5.0)

    rows = simulate(Gossip(Graph(((1,), (0,)))), cluster, until=Until(jobs=2), seed=0,
                    payload=Payload(10.0, 10.0)).rows  # fmt: skip

    assert rows.time[rows.op == Op.MIX].tolist() == [11.0, 13.0]


def test_a_partition_of_a_ring_heals_and_only_then_it_goes_on():
    """Nodes 0 and 1 of four are cut off from 0.5 s to 20 s: every node waits for a neighbour."""
    script = FaultScript((Partition((0, 1), 0.5, 20.0),))
    cluster = replace(Cluster.alike(4, Constant(1.0)), faults=script)

    schedule = simulate(Gossip(Graph.ring(4)), cluster, until=Until(jobs=8), seed=0)

    schedule.check()
    Gossip(Graph.ring(4)).restate(schedule)
    begun = schedule.jobs.begin[schedule.jobs.round == 1]
    assert begun.tolist() == [20.0] * 4


def test_workers_on_one_side_of_a_partition_hear_each_other():
    script = FaultScript((Partition((0, 1), 0.5, 20.0),))

    for pair, cut in {(0, 1): False, (1, 0): False, (2, 3): False, (0, 2): True, (-1, 1): True,
                      (3, -1): False}.items():  # fmt: skip
        assert script.separates(*pair) == cut
        assert script.heals(*pair, 3.0) == (20.0 if cut else 3.0)
    assert script.heals(0, 2, 20.0) == 20.0
    assert script.heals(0, 2, 0.25) == 0.25


def test_a_ring_all_reduce_waits_for_the_partition_to_heal():
    """Its messages leave at 1 s and later, and reach the others at 20 s at the earliest."""
    script = FaultScript((Partition((2,), 0.0, 20.0),))
    cluster = replace(Cluster.alike(4, Constant(1.0), link=Link(0.5)), faults=script)

    rows = simulate(AllReduce(), cluster, until=Until(jobs=4), seed=0).rows

    # Worker 2's first parts arrive at 20 s; four of the six steps are still to come or under way.
    stepped = rows.time[rows.op == Op.STEP][0]
    assert 20.0 < stepped <= 20.0 + 5 * 0.5


def test_links_that_are_calm_draw_what_they_drew_before():
    """A partition that never separates anything in time moves nothing, not by a bit."""
    cluster = Cluster.alike(3, Exponential(1.0), link=Link(0.1, Exponential(0.1)))
    script = FaultScript((Partition((1,), 1e6, 2e6),))

    schedules = [
        simulate(AsynchronousServer(), used, until=Until(jobs=60), seed=2)
        for used in (cluster, replace(cluster, faults=script))
    ]

    assert np.array_equal(schedules[0].rows.time, schedules[1].rows.time)
    assert np.array_equal(schedules[0].rows.job, schedules[1].rows.job)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Link(loss=1.0, resend_s=1.0),
            r"Link.loss must be a channel or a probability in \[0, 1\)",
        ),
        (lambda: Link(resend_s=0.0), r"Link.resend_s must be a finite number of seconds > 0"),
        (lambda: Link(loss=0.1), r"Link.resend_s must be given, .* can get lost, got None"),
        (
            lambda: FaultScript(lost_acknowledgements=0.1),
            r"FaultScript.resend_s must be given, .* can get lost, got None",
        ),
        (
            lambda: Link(background=BackgroundTraffic(0.5, Constant(1.0), Constant(1.0))),
            r"Link.background must be given only when bandwidth_bytes_per_s is finite",
        ),
        (lambda: BackgroundTraffic(1.0, Constant(1.0), Constant(1.0)), r"share must be a number"),
        (lambda: BackgroundTraffic(0.5, Constant(0.0), Constant(1.0)), r"idle must be a law"),
        (
            lambda: replace(Cluster.alike(1, Constant(1.0)), fabric_bandwidth_bytes_per_s=-inf),
            r"Cluster.fabric_bandwidth_bytes_per_s must be",
        ),
        (lambda: Crash(0, -1.0), r"Crash.at_s must be"),
    ],
)
def test_troubles_say_what_they_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()
