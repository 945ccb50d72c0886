"""Crashes in mid-broadcast and lost messages, against the constants of theory."""

from math import log, sqrt

import numpy as np
import pytest

from elastic_consistency.random_streams import Cause, uniforms
from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap, noise_gap
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.network.losses import Attempts, GilbertElliott
from elastic_consistency.simulator.protocols import (
    AllReduce,
    BroadcastCrash,
    CrashFaults,
    LossyBroadcast,
)

P = 8
CLUSTER = Cluster.alike(P, Exponential(1.0))


def _run(protocol, rounds=12, seed=1):
    return simulate(protocol, CLUSTER, until=Until(jobs=P * rounds), seed=seed)


def _aggregate_difference(schedule):
    return compute_influence(schedule).aggregate_difference()


@pytest.mark.parametrize("rounds", [(2, 2, 2), (1, 2, 4)], ids=["at once", "one by one"])
def test_crashes_cost_f_over_p(rounds):
    """f M / p = .375 for f = 3, p = 8 (design, section 9): nobody but worker 7 gets them."""
    crashes = tuple(BroadcastCrash(k, round, (7,)) for k, round in enumerate(rounds))

    schedule = _run(CrashFaults(crashes))

    assert largest_gap(_aggregate_difference(schedule)) == pytest.approx(0.375, abs=1e-9)


def test_a_substitute_turns_the_loss_into_noise():
    """sigma sqrt(f^2 + f) / p = .5590 for f = 4, p = 8, all in one round."""
    crashes = tuple(BroadcastCrash(k, 2, (7,)) for k in range(4))

    schedule = _run(CrashFaults(crashes, substitute=True))

    gap = noise_gap(_aggregate_difference(schedule))
    assert gap == pytest.approx(sqrt(4**2 + 4) / 8, abs=1e-9)
    assert gap == pytest.approx(0.5590, abs=5e-5)


def test_a_crash_that_reaches_everybody_or_nobody_leaves_no_gap():
    everybody = CrashFaults((BroadcastCrash(0, 3, tuple(range(1, P))),))
    nobody = CrashFaults((BroadcastCrash(0, 3),))

    for protocol in (everybody, nobody):
        assert largest_gap(_aggregate_difference(_run(protocol))) <= 1e-12


def test_without_crashes_it_is_all_reduce():
    assert _run(CrashFaults(())).digest() == _run(AllReduce()).digest()


def test_the_dead_do_nothing_and_the_round_of_a_crash_waits_for_the_timeout():
    crash = BroadcastCrash(2, 1, (0,))

    plain, slow = (_run(CrashFaults((crash,), timeout_s=t)) for t in (0.0, 7.0))

    death = np.flatnonzero(slow.rows.op == Op.CRASH)[0]
    assert 2 not in slow.rows.worker[death + 1 :][slow.rows.op[death + 1 :] != Op.DROP]
    late = slow.rows.time[-1] - plain.rows.time[-1]
    assert late == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BroadcastCrash(1, 0, (1,)), r"BroadcastCrash.receivers must be workers other"),
        (lambda: BroadcastCrash(1, -1), r"BroadcastCrash.round must be"),
        (lambda: CrashFaults((BroadcastCrash(1, 0),) * 2), r"CrashFaults.crashes must be at most"),
        (lambda: _run(CrashFaults((BroadcastCrash(9, 0),))), r"must be about workers 0..7"),
        (lambda: LossyBroadcast(1.0), r"LossyBroadcast.loss must be a probability in \[0, 1\)"),
        (lambda: LossyBroadcast(0.1, resync=0), r"LossyBroadcast.resync must be"),
    ],
)
def test_a_fault_says_what_it_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_losses_without_remedy_have_no_finite_constant_and_say_so():
    short, long = (_run(LossyBroadcast(0.1), rounds) for rounds in (15, 60))

    assert not LossyBroadcast(0.1).has_finite_gap
    assert [a.kind for a in long.metadata.annotations] == ["no finite B"]
    gaps = [largest_gap(_aggregate_difference(s)) for s in (short, long)]
    assert gaps[1] > 2.5 * gaps[0]


def test_a_channel_without_losses_needs_no_remedy():
    schedule = _run(LossyBroadcast(0.0))

    assert LossyBroadcast(0.0).has_finite_gap
    assert not schedule.metadata.annotations
    assert largest_gap(_aggregate_difference(schedule)) <= 1e-12


def test_a_resynchronisation_bounds_the_gap():
    """An update counts with its share, so it differs by at most (1 - 1/p) / p at any replica."""
    every = 4
    protocol = LossyBroadcast(0.3, resync=every)

    gaps = [largest_gap(_aggregate_difference(_run(protocol, rounds))) for rounds in (8, 60)]

    assert protocol.has_finite_gap
    assert 0 < gaps[0] <= gaps[1] <= (every - 1) * (1 - 1 / P)
    influence = compute_influence(_run(protocol))
    np.testing.assert_allclose(influence.final, influence.shares, atol=1e-12)


def test_repetition_without_limit_loses_nothing_but_time():
    protocol = LossyBroadcast(0.4, None, timeout_s=1.0)

    schedule = _run(protocol)

    assert protocol.has_finite_gap
    assert largest_gap(_aggregate_difference(schedule)) <= 1e-12
    assert schedule.rows.time[-1] > _run(AllReduce()).rows.time[-1] + 12


def test_attempts_are_geometric():
    """P(more than k) = loss^k for k = 1..4: Hoeffding, false-alarm rate 1e-6 over all; 0.0063."""
    loss, n = 0.3, 200_000
    attempts = Attempts(loss, 3, 0)

    drawn = np.array([attempts.next() for _ in range(n)])

    for k in range(1, 5):
        assert abs(np.mean(drawn > k) - loss**k) <= sqrt(log(8 / 1e-6) / (2 * n))
    assert Attempts(0.0, 3, 0).next() == 1


def test_a_bursty_channel_loses_its_mean_in_bursts():
    """Long-run loss g / (g + b) and mean burst 1 / b, as renewals; 6 estimated errors, 2e-9.

    Losses of transmissions are read off the numbers of attempts; finds 10 % in either.
    """
    channel = GilbertElliott(good_to_bad=0.02, bad_to_good=0.25)
    attempts = Attempts(channel, 5, 0)

    lost = []
    for _ in range(150_000):
        lost += [True] * (attempts.next() - 1) + [False]
    lost = np.array(lost)

    edges = np.flatnonzero(np.diff(np.r_[False, lost, False].astype(int)))
    bursts, gaps = edges[1::2] - edges[::2], edges[2::2] - edges[1:-1:2]
    for lengths, mean in ((bursts, 1 / 0.25), (gaps, 1 / 0.02)):
        error = lengths.std() / sqrt(len(lengths))
        assert abs(lengths.mean() - mean) <= 6 * error
    assert channel.mean() == pytest.approx(0.02 / 0.27)


def test_a_channel_stays_as_it_is_from_one_message_to_the_next():
    """The chain written out on the sender's own uniforms: a change of state, then a loss."""
    channel = GilbertElliott(good_to_bad=0.2, bad_to_good=0.3, loss_good=0.1, loss_bad=0.6)
    attempts = Attempts(channel, 4, 2)
    pairs = iter(uniforms(4, Cause.FAULT, 2, 0, 4000).reshape(-1, 2))

    is_bad, arrived_while_bad = False, 0
    for _ in range(300):
        needed, lost = 0, True
        while lost:
            change, u = next(pairs)
            is_bad = change >= 0.3 if is_bad else change < 0.2
            needed, lost = needed + 1, u < (0.6 if is_bad else 0.1)
        arrived_while_bad += is_bad
        assert attempts.next() == needed

    assert arrived_while_bad > 50


def test_bursts_cost_more_time_than_the_same_losses_spread_out():
    """All messages of a round wait for the longest burst: same mean loss, later end."""
    channel = GilbertElliott(0.02, 0.1)

    spread, bursty = (
        _run(LossyBroadcast(loss, None, timeout_s=1.0), rounds=40).rows.time[-1]
        for loss in (channel.mean(), channel)
    )

    assert bursty > spread
    assert largest_gap(_aggregate_difference(_run(LossyBroadcast(channel, None)))) <= 1e-12
