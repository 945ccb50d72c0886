"""Every invariant refuses the schedule that breaks it, by name and row."""

import dataclasses

import numpy as np
import pytest

from elastic_consistency.schedule import Messages, Op, Schedule, ScheduleError

NAN = float("nan")


def broken_rule(schedule):
    with pytest.raises(ScheduleError) as caught:
        schedule.check()
    return caught.value.rule, caught.value.row


def row_of(schedule, op, number=0):
    return int(np.flatnonzero(schedule.rows.op == op)[number])


def reorder(schedule, order):
    """The rows in another order; times stay in place."""
    rows = schedule.rows
    columns = {f.name: getattr(rows, f.name)[order] for f in dataclasses.fields(rows)}
    columns["time"] = np.array(rows.time[: len(order)])
    return dataclasses.replace(schedule, rows=type(rows)(**columns))


def test_valid_schedules_pass(handmade):
    for schedule in handmade.values():
        schedule.check()


# Changed cells of the server schedule, the rule that must speak, and at which row.
CELLS = [
    ({("time", 3): -1.0}, "time", 3),
    ({("time", 3): NAN}, "time", 3),
    ({("op", 2): 9}, "op", 2),
    ({("worker", 0): 2}, "range", 0),
    ({("job", 0): 99}, "range", 0),
    ({("replica", 0): 1}, "range", 0),
    ({("block", 0): 1}, "range", 0),
    ({("job", 1): -1}, "operands", 1),
    ({("message", 0): 0}, "range", 0),
    ({("weight", 0): 1.0}, "operands", 0),
    ({("keep", 0): 0.5}, "operands", 0),
]


@pytest.mark.parametrize(("cells", "rule", "row"), CELLS)
def test_a_wrong_cell_is_named(handmade, tamper, cells, rule, row):
    assert broken_rule(tamper(handmade["server"], rows=cells)) == (rule, row)


@pytest.mark.parametrize("weight", [0.0, NAN, float("inf")])
def test_an_add_without_a_finite_weight_is_refused(handmade, tamper, weight):
    add = row_of(handmade["server"], Op.ADD)

    tampered = tamper(handmade["server"], rows={("weight", add): weight})

    assert broken_rule(tampered) == ("weight", add)


@pytest.mark.parametrize(
    ("table", "cells", "rule"),
    [
        ("jobs", {("worker", 0): 5}, "range"),
        ("jobs", {("worker", 0): 1}, "job worker"),
        ("jobs", {("share", 0): NAN}, "job share"),
        ("jobs", {("share", 0): float("inf")}, "job share"),
        ("jobs", {("round", 0): -9}, "range"),
        ("jobs", {("begin", 0): NAN}, "begin"),
        ("jobs", {("begin", 0): 9.0}, "begin"),
        ("jobs", {("begin", 4): 0.0}, "begin"),
        ("jobs", {("block", 0): 0}, "job block"),
    ],
)
def test_a_wrong_job_entry_is_named(handmade, tamper, table, cells, rule):
    assert broken_rule(tamper(handmade["server"], **{table: cells}))[0] == rule


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (Op.READ, "job read"),
        (Op.GRADIENT, "job order"),
        (Op.ENCODE, "encode first"),
        (Op.ADD, "job share"),
        (Op.STEP, "no step"),
        (Op.DROP, "job alive"),
    ],
)
def test_a_missing_row_is_noticed(handmade, op, rule):
    schedule = handmade["server"]
    last = np.flatnonzero(schedule.rows.op == op)[-1]
    order = np.delete(np.arange(len(schedule.rows)), last)

    assert broken_rule(reorder(schedule, order))[0] == rule


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (Op.READ, "READ once"),
        (Op.GRADIENT, "job gradient"),
        (Op.ENCODE, "ENCODE once"),
        (Op.STEP, "empty step"),
        (Op.DROP, "job drop"),
    ],
)
def test_a_doubled_row_is_noticed(handmade, op, rule):
    schedule = handmade["server"]
    row = row_of(schedule, op)
    order = np.insert(np.arange(len(schedule.rows)), row, row)
    doubled = reorder(schedule, order[: len(schedule.rows) + 1])

    assert broken_rule(_with_time(doubled, schedule, row))[0] == rule


def _with_time(doubled, schedule, row):
    rows = doubled.rows
    columns = {f.name: getattr(rows, f.name) for f in dataclasses.fields(rows)}
    columns["time"] = np.insert(np.array(schedule.rows.time), row, schedule.rows.time[row])
    return dataclasses.replace(doubled, rows=type(rows)(**columns))


def test_a_doubled_add_is_left_to_influence(handmade):
    """Two ADDs of one job are legal (a stand-in is one); only the share tells them apart."""
    schedule = handmade["server"]
    row = row_of(schedule, Op.ADD)
    doubled = _with_time(
        reorder(schedule, np.insert(np.arange(len(schedule.rows)), row, row)), schedule, row
    )

    doubled.check()

    assert np.abs(doubled.influence().final - doubled.influence().shares).max() == 1.0


def test_a_worker_computes_one_job_at_a_time(make_hand):
    hand = make_hand(1, (-1,))
    jobs = [hand.record.job(0) for _ in range(2)]
    for job in jobs:
        hand.record.read(job, 0)
        hand.record.gradient(job)
        hand.record.begin(job)
    hand.time = 1.0
    for job in jobs:
        hand.record.encode(job)
        hand.record.drop(job=job, share=0.0)

    assert broken_rule(hand.record.finish())[0] == "one at a time"


def test_a_crashed_worker_is_silent_until_it_restarts(make_hand):
    def crash(*, restarted):
        hand = make_hand(1, (-1,))
        hand.record.crash(0)
        if restarted:
            hand.record.annotate("restart", 0)
        job = hand.record.job(0)
        hand.record.read(job, 0)
        hand.record.gradient(job)
        hand.record.drop(job=job, share=0.0)
        return hand.record.finish()

    crash(restarted=True).check()

    assert broken_rule(crash(restarted=False)) == ("crash", 1)


def test_a_job_may_be_stopped_before_its_encode(make_hand):
    """Ringmaster's stopping variant: DROP before ENCODE frees the worker."""
    hand = make_hand(1, (-1,))
    for _ in range(2):
        job = hand.record.job(0)
        hand.record.read(job, 0)
        hand.record.gradient(job)
        hand.record.begin(job)
        hand.time += 1.0
        hand.record.drop(job=job, share=0.0)

    hand.record.finish().check()


@pytest.mark.parametrize(
    ("name", "op", "cell", "rule"),
    [
        ("pairwise", Op.MIX, ("keep", 0.4), "affine"),
        ("pairwise", Op.MIX, ("weight", 0.6), "affine"),
        ("pairwise", Op.PUT, ("weight", 0.9), "affine"),
        ("pairwise", Op.PUT, ("keep", 0.5), "mass kept"),
        ("push_sum", Op.PUT, ("keep", 0.4), "mass conserved"),
        ("push_sum", Op.PUT, ("keep", -1.0), "mass kept"),
        ("push_sum", Op.PUT, ("weight", 0.6), "mass conserved"),
        ("push_sum", Op.MIX, ("keep", 0.5), "mass conserved"),
        ("push_sum", Op.MIX, ("keep", 1.5), "keep"),
        ("push_sum", Op.MIX, ("worker", 0), "host"),
        ("blocks", Op.ENCODE, ("block", 0), "ENCODE once"),
        ("blocks", Op.ADD, ("weight", 0.5), "net weight"),
        ("blocks", Op.READ, ("block", 1), "READ once"),
    ],
)
def test_a_wrong_weight_or_block_is_named(handmade, tamper, name, op, cell, rule):
    row = row_of(handmade[name], op)

    tampered = tamper(handmade[name], rows={(cell[0], row): cell[1]})

    assert broken_rule(tampered)[0] == rule


def test_a_message_is_frozen_at_its_first_use(handmade):
    schedule = handmade["pairwise"]
    put, mix = row_of(schedule, Op.PUT, 1), row_of(schedule, Op.MIX, 0)
    order = np.arange(len(schedule.rows))
    order[[put, mix]] = order[[mix, put]]

    assert broken_rule(reorder(schedule, order))[0] == "message frozen"


def test_a_message_is_taken_once_by_each_recipient(handmade, tamper):
    schedule = handmade["pairwise"]
    second = row_of(schedule, Op.MIX, 1)

    tampered = tamper(
        schedule, rows={("replica", second): 0, ("worker", second): 0, ("message", second): 1}
    )

    assert broken_rule(tampered) == ("mix once", second)


def test_a_message_carries_updates_or_models(make_hand):
    hand = make_hand(1, (0,))
    record = hand.record
    job = record.job(0)
    record.read(job, 0)
    record.gradient(job)
    record.begin(job)
    record.encode(job)
    message = record.message()
    record.put(message, job=job, weight=0.5)
    record.put(message, replica=0, weight=0.5)
    record.drop(message=message)
    record.drop(job=job, share=1.0)

    assert broken_rule(record.finish())[0] == "message kind"


def test_what_is_in_flight_at_the_end_must_be_declared(handmade, tamper):
    schedule = handmade["push_sum"]

    tampered = tamper(schedule, messages={("in_flight", 0): True})

    assert broken_rule(tampered)[0] == "message alive"


def test_unequal_columns_are_refused(handmade):
    rows = handmade["server"].rows
    columns = {f.name: getattr(rows, f.name) for f in dataclasses.fields(rows)}
    columns["keep"] = columns["keep"][:-1]
    schedule = handmade["server"]
    short = Schedule(type(rows)(**columns), schedule.jobs, schedule.messages, schedule.metadata)

    assert broken_rule(short)[0] == "columns"


def test_a_schedule_cannot_be_written_to(handmade):
    with pytest.raises(ValueError, match="read-only"):
        handmade["server"].rows.time[0] = 1.0


def test_one_at_a_time_holds_beyond_two_bytes_of_workers(make_hand):
    """Workers 3 and 65539 agree in their last 16 bits; only one of them does two jobs at once."""
    for second, refused in ((65539, False), (3, True)):
        hand = make_hand(65540, (-1,))
        record = hand.record
        jobs = [record.job(3), record.job(second)]
        for job in jobs:
            record.read(job, 0)
            record.gradient(job)
            record.begin(job)
        hand.time += 1.0
        for job in jobs:
            record.encode(job)
            record.drop(job=job, share=0.0)
        schedule = record.finish()

        if refused:
            with pytest.raises(ScheduleError, match="one at a time"):
                schedule.check()
        else:
            schedule.check()


@pytest.mark.parametrize(("column", "value"), [("job", -1), ("message", 0)])
def test_an_add_of_neither_or_of_both_is_refused(handmade, tamper, column, value):
    """A job and a message exist, but an ADD takes exactly one of them."""
    schedule = handmade["server"]
    messages = Messages(np.zeros(1, bool), np.ones(1, bool))
    schedule = Schedule(schedule.rows, schedule.jobs, messages, schedule.metadata)
    row = int(np.flatnonzero(schedule.rows.op == Op.ADD)[0])

    with pytest.raises(ScheduleError, match="either a job or a message") as caught:
        tamper(schedule, rows={(column, row): value}).check()

    assert caught.value.row == row


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_a_declared_job_may_be_cut_between_its_blocks(handmade, rows):
    """The end of a schedule may fall between two READs or two ADDs of a job in flight."""
    schedule = handmade["blocks"]
    jobs = dataclasses.replace(schedule.jobs, share=np.array([NAN]))
    cut = dataclasses.replace(reorder(schedule, np.arange(rows)), jobs=jobs)

    cut.check()
