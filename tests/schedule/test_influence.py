"""Exact constants B of small schedules, with values from theory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule.influence import largest_gap, noise_gap

DURATIONS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0, 200.0]), min_size=1, max_size=12)


def message_passing(hand, p, delay, n_rounds):
    """Every worker has its replica; a peer's gradient of round t misses `delay` rounds.

    Own gradients enter at once; what is still missing at the end arrives afterwards.
    """
    record, sent = hand.record, {}
    for number in range(n_rounds + delay + 1):
        for worker in range(p):
            for peer in range(p):
                job = sent.get((peer, number - delay - 1))
                if peer != worker and job is not None:
                    record.add(worker, job=job, weight=1 / p)
                    record.step(worker)
        if number < n_rounds:
            for worker in range(p):
                job = sent[worker, number] = record.job(worker, round=number)
                record.read(job, worker)
                record.gradient(job)
                record.begin(job)
        hand.time += 1.0
        if number < n_rounds:
            for worker in range(p):
                job = sent[worker, number]
                record.encode(job)
                record.add(worker, job=job, weight=1 / p)
                record.step(worker)
    for job in sent.values():
        record.drop(job=job, share=1 / p)
    return record.finish()


@given(DURATIONS, st.integers(1, 6), st.integers(0, 15))
def test_every_gradient_ends_in_the_model_with_its_share(make_server, durations, n, extra):
    influence = make_server(durations, n, n + extra).influence()

    assert np.array_equal(influence.final, influence.shares)


@given(DURATIONS, st.integers(2, 6))
def test_the_started_gap_of_a_server_is_n_minus_1_for_any_delays(make_server, durations, n):
    """B = (n - 1) M, attained as soon as all workers have read once."""
    influence = make_server(durations, n, 3 * n).influence()

    assert largest_gap(influence.started_difference()) == n - 1
    assert noise_gap(influence.started_difference()) == pytest.approx(math.sqrt(n - 1))


def test_an_aligned_pull_behind_a_200x_straggler_does_not_change_it(make_server):
    durations = [200.0] + [1.0] * 300

    influence = make_server(durations, 8, 300).influence()

    assert largest_gap(influence.started_difference()) == 7


def test_message_passing_reaches_its_constants(make_hand):
    """p = 8, tau = 5: aligned (p-1) tau / p = 4.375, noise sqrt((p-1) tau) / p = sqrt(35) / 8."""
    p, tau = 8, 5
    schedule = message_passing(make_hand(p, tuple(range(p))), p, tau, 12)
    schedule.check()

    influence = schedule.influence()
    difference = influence.aggregate_difference()

    assert largest_gap(difference) == pytest.approx(4.375, abs=1e-12)
    assert noise_gap(difference) == pytest.approx(math.sqrt(35) / 8, abs=1e-12)
    assert np.abs(influence.final - influence.shares).max() <= 1e-12


def test_a_lost_update_shows_in_the_final_coefficients(make_server, tamper):
    schedule = make_server([1.0], 2, 4)
    add = int(np.flatnonzero(schedule.rows.op == 3)[1])
    halved = tamper(schedule, rows={("weight", add): 0.5})

    influence = halved.influence()

    assert np.abs(influence.final - influence.shares).max() == 0.5


def test_pairwise_averaging_halves_both_gradients(handmade):
    influence = handmade["pairwise"].influence()

    assert influence.final.tolist() == [[0.5, 0.5]]


def test_a_torn_write_reaches_each_block_once(handmade):
    influence = handmade["blocks"].influence()

    assert influence.final.tolist() == [[1.0], [1.0]]
    assert not influence.views.any()


def test_a_schedule_that_is_too_long_is_refused(make_server):
    with pytest.raises(ValueError, match="take fewer jobs"):
        make_server([1.0], 1, 20_000).influence()
