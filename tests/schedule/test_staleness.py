"""Staleness and jobs in flight, against a plain restatement and exact identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.staleness import in_flight_at_steps

DURATIONS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0, 200.0]), min_size=1, max_size=12)


def count_by_hand(schedule):
    """Staleness of each ADD row, counted row by row with one counter a replica."""
    rows, version, seen, result = schedule.rows, {}, {}, []
    for row in range(len(rows)):
        op, job, replica = int(rows.op[row]), int(rows.job[row]), int(rows.replica[row])
        if op == Op.READ and job not in seen:
            seen[job] = dict(version)
        elif op in (Op.STEP, Op.MIX):
            version[replica] = version.get(replica, 0) + 1
        elif op == Op.ADD:
            result.append(version.get(replica, 0) - seen[job].get(replica, 0))
    return result


@given(DURATIONS, st.integers(1, 6), st.integers(0, 20))
def test_staleness_of_a_drained_server_adds_up_exactly(make_server, durations, n, extra):
    """(n - 1) T - n (n - 1) / 2, whatever the delays: ties, zeros, 200x stragglers."""
    total = n + extra
    schedule = make_server(durations, n, total)

    schedule.check()

    expected = (n - 1) * total - n * (n - 1) // 2
    assert schedule.staleness().steps.sum() == expected
    assert in_flight_at_steps(schedule).sum() == expected


@given(DURATIONS, st.integers(1, 6), st.integers(0, 20))
def test_staleness_equals_counting_row_by_row(make_server, durations, n, extra):
    schedule = make_server(durations, n, n + extra)

    assert schedule.staleness().steps.tolist() == count_by_hand(schedule)


@given(DURATIONS, st.integers(2, 6))
def test_a_server_never_has_more_than_n_minus_1_other_jobs_in_flight(make_server, durations, n):
    schedule = make_server(durations, n, 4 * n)

    assert schedule.in_flight().max() == n - 1


def test_staleness_is_zero_for_one_worker(make_server):
    assert not make_server([1.0], 1, 5).staleness().steps.any()


def test_three_events_by_hand(make_server):
    """Worker 1 is slow: its job 1 sees the updates of jobs 0, 2 and 3 come in before it."""
    schedule = make_server([1.0, 3.5, 1.0, 1.0, 1.0], 2, 5)

    stale = schedule.staleness()

    assert stale.job.tolist() == [0, 2, 3, 1, 4]
    assert stale.steps.tolist() == [0, 0, 0, 3, 1]


def test_a_message_is_as_stale_as_its_stalest_job(make_hand):
    hand = make_hand(2, (-1,))
    record = hand.record
    old, new, other = (record.job(w) for w in (0, 1, 1))

    def compute(job):
        record.read(job, 0)
        record.gradient(job)

    compute(old)
    compute(other)
    for job in (other,):
        record.begin(job)
        record.encode(job)
        record.add(0, job=job)
        record.step(0)
        record.drop(job=job, share=1.0)
    compute(new)
    message = record.message()
    for job in (new, old):
        record.begin(job)
        record.encode(job)
        record.put(message, job=job, weight=0.5)
    record.add(0, message=message)
    record.step(0)
    record.drop(message=message)
    for job in (old, new):
        record.drop(job=job, share=0.5)
    schedule = record.finish()
    schedule.check()

    stale = schedule.staleness()

    assert stale.steps.tolist() == [0, 1]
    assert stale.job.tolist() == [other, old]


def test_versions_are_counted_by_block(make_hand):
    """A torn view is as stale as its stalest block."""
    hand = make_hand(2, (-1,), block_sizes=(1, 1))
    record = hand.record
    reader, writer = record.job(0), record.job(1)
    for job in (reader, writer):
        record.read(job, 0)
        record.gradient(job)
        record.begin(job)
        record.encode(job)
    record.add(0, job=writer)
    record.step(0, block=0)
    record.add(0, job=reader, block=0)
    record.add(0, job=reader, block=1)
    record.step(0)
    for job in (reader, writer):
        record.drop(job=job, share=1.0)

    assert record.finish().staleness().steps.tolist() == [0, 1, 0]


def test_discarded_jobs_are_not_in_flight(make_server, tamper):
    schedule = make_server([1.0], 3, 6)
    ignored = tamper(schedule, jobs={("share", 0): 0.0})

    assert ignored.in_flight()[0] == 0
    assert ignored.in_flight()[2] == schedule.in_flight()[2] - 1


@pytest.mark.parametrize("n", [1, 4, 16])
def test_the_read_order_and_the_step_order_give_the_same_sum(make_server, n):
    rng = np.random.default_rng(1)
    schedule = make_server(rng.exponential(size=200).tolist(), n, 200)

    assert in_flight_at_steps(schedule).sum() == schedule.staleness().steps.sum()
