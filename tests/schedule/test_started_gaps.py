"""Started gaps by running sums equal those of the full matrix of influence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Recorder, ScheduleError
from elastic_consistency.schedule.influence import largest_gap, noise_gap
from elastic_consistency.schedule.started_gaps import started_gaps

DURATIONS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0, 200.0]), min_size=1, max_size=12)
WEIGHTS = st.sampled_from([1.0, 0.5, -0.25, 1 / 3])


@st.composite
def schedules(draw):
    """Jobs added directly or in messages, whole or in parts, to one or several replicas."""
    n_workers, replicas = 3, draw(st.integers(1, 3))
    record = Recorder(lambda: clock[0], n_workers=n_workers, hosts=(-1,) * replicas)
    clock, held, filled = [0.0], {}, set()
    what = st.sampled_from(["add", "twice", "message", "discard"])
    choices = st.tuples(st.integers(0, 2), st.integers(0, replicas - 1), what, WEIGHTS)
    for worker, replica, kind, weight in draw(st.lists(choices, min_size=1, max_size=40)):
        clock[0] += 1.0
        job = held.pop(worker, None)
        if job is None:
            job = held[worker] = record.job(worker)
            record.read(job, replica)
            record.gradient(job)
            record.begin(job)
            continue
        record.encode(job)
        if kind == "message":
            message = record.message()
            record.put(message, job=job, weight=weight)
            record.add(replica, message=message, weight=0.5)
            record.drop(message=message)
        elif kind != "discard":
            record.add(replica, job=job, weight=weight)
        if kind == "twice":
            record.step(replica)
            record.add(replica, job=job, weight=0.5)
        if kind != "discard":
            filled.add(replica)
        if kind != "discard" and draw(st.booleans()):
            record.step(replica)
            filled.discard(replica)
        record.drop(job=job, share=0.0 if kind == "discard" else weight)
    for replica in sorted(filled):
        record.step(replica)
    return record.finish()


@given(schedules())
def test_running_sums_equal_the_matrix(schedule):
    schedule.check()
    difference = schedule.influence().started_difference()[:, 0]

    gaps = started_gaps(schedule)

    np.testing.assert_allclose(gaps.aligned, np.abs(difference).sum(axis=1), atol=1e-14)
    np.testing.assert_allclose(gaps.noise**2, (difference**2).sum(axis=1), atol=1e-14)


@given(DURATIONS, st.integers(1, 6), st.integers(0, 40))
def test_a_server_has_the_constants_of_its_matrix(make_server, durations, n, extra):
    schedule = make_server(durations, n, n + extra)
    difference = schedule.influence().started_difference()

    gaps = started_gaps(schedule)

    assert gaps.aligned.max() == largest_gap(difference)
    assert gaps.noise.max() == noise_gap(difference)
    assert np.array_equal(gaps.aligned, schedule.in_flight())


def test_shares_that_are_no_dyadic_numbers_do_not_drift(make_server, tamper):
    """200,000 changes of a third; the sums of the last views are those of the first ones."""
    schedule = make_server([1.0], 4, 100_000)
    adds = np.flatnonzero(schedule.rows.op == 3)
    jobs = range(len(schedule.jobs))
    thirds = tamper(
        schedule,
        rows={("weight", row): 1 / 3 for row in adds.tolist()},
        jobs={("share", job): 1 / 3 for job in jobs},
    )

    aligned = started_gaps(thirds).aligned

    np.testing.assert_allclose(aligned[3:], 1.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["pairwise", "blocks"])
def test_what_only_the_matrix_can_tell_is_refused(handmade, name):
    with pytest.raises(ScheduleError, match=r"use influence\(\)"):
        started_gaps(handmade[name])


def test_jobs_out_of_order_are_refused(make_hand):
    hand = make_hand(2, (-1,))
    first, second = hand.record.job(0), hand.record.job(1)
    for job in (second, first):
        hand.record.read(job, 0)
        hand.record.gradient(job)

    with pytest.raises(ScheduleError, match="in their order"):
        started_gaps(hand.record.finish())


def test_a_schedule_without_jobs_has_no_gaps():
    empty = Recorder(lambda: 0.0, n_workers=1, hosts=(-1,)).finish()

    assert len(started_gaps(empty).aligned) == 0
