"""An all-reduce whose members change: weights, shares, copies of the model, time."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.schedule import Op, ScheduleError
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    LateStart,
    Link,
    Payload,
    RandomCrashes,
    Ring,
    StallError,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AllReduce

LINK = Link(0.25, bandwidth_bytes_per_s=64.0)
PAYLOAD = Payload(16.0, 16.0)
SIZES = {n: Ring().closed_form(n, LINK, 16.0) for n in (1, 2, 3)}


def _run(*faults, n=3, jobs=12, law=None, seed=0, link=LINK):
    cluster = replace(Cluster.alike(n, law or Constant(1.0), link=link), faults=FaultScript(faults))
    schedule = simulate(AllReduce(), cluster, until=Until(jobs=jobs), seed=seed, payload=PAYLOAD)
    schedule.check()
    AllReduce().restate(schedule)
    return schedule


def _rounds(schedule):
    """Members and begin of each round."""
    jobs = schedule.jobs
    return [
        (jobs.worker[jobs.round == k].tolist(), float(jobs.begin[jobs.round == k][0]))
        for k in range(int(jobs.round.max()) + 1)
    ]


def test_who_joins_late_enters_the_next_round_and_changes_p():
    """Rounds of two last 1 s and a ring of two; the newcomer then gets a copy of the model."""
    schedule = _run(LateStart(2, 2.0))

    first, copy = 1.0 + SIZES[2], LINK.fixed_seconds(16.0)
    expected = [([0, 1], 0.0), ([0, 1], first)]
    begin = 2 * first + copy
    expected += [([0, 1, 2], begin), ([0, 1, 2], begin + 1.0 + SIZES[3])]
    for (members, begun), (told, at) in zip(_rounds(schedule), expected, strict=False):
        assert members == told
        assert begun == pytest.approx(at)
    assert schedule.jobs.share.tolist() == [1 / 2] * 4 + [1 / 3] * 6


def test_a_crash_in_the_computation_leaves_a_round_of_the_others():
    schedule = _run(Crash(1, 0.5), jobs=7)

    assert schedule.jobs.share.tolist() == [1 / 2, 0.0, 1 / 2] + [1 / 2] * 4
    assert _rounds(schedule)[1] == ([0, 2], pytest.approx(1.0 + SIZES[2]))


def test_a_crash_of_who_waits_for_the_next_round_disturbs_nothing():
    """Worker 2 dies at 0.5 s, is back at 1.25 s, as the others reduce, and dies at 1.5 s."""
    schedule = _run(Crash(2, 0.5, 0.75), Crash(2, 1.5), jobs=5)

    stepped = schedule.rows.time[schedule.rows.op == Op.STEP]
    np.testing.assert_allclose(stepped[:2], 1.0 + SIZES[2])


def test_a_crash_in_the_all_reduce_begins_it_anew():
    """It begins at 1 s with three; at 1.5 s one dies, and the ring of two begins."""
    schedule = _run(Crash(1, 1.5), jobs=5)

    stepped = schedule.rows.time[schedule.rows.op == Op.STEP]
    np.testing.assert_allclose(stepped[:2], 1.5 + SIZES[2])
    assert schedule.jobs.share.tolist()[:3] == [1 / 2, 0.0, 1 / 2]


def test_who_restarts_gets_the_model_first():
    schedule = _run(Crash(1, 0.5, 1.0), jobs=9)

    rows = schedule.rows
    mixed = np.flatnonzero(rows.op == Op.MIX)
    assert rows.replica[mixed].tolist() == [1]
    assert rows.keep[mixed].tolist() == [0.0]
    assert [members for members, _ in _rounds(schedule)] == [[0, 1, 2], [0, 1, 2], [0, 1, 2]]


def test_a_copy_that_nobody_needs_is_not_sent():
    """Who joins before the first step has the first model already."""
    schedule = _run(LateStart(2, 0.5), jobs=9, n=3)
    alone = _run(LateStart(0, 0.5), n=1, jobs=3)

    assert (schedule.rows.op == Op.MIX).sum() == 1
    assert (alone.rows.op == Op.MIX).sum() == 0
    assert alone.jobs.begin.tolist() == [0.5, 1.5, 2.5]


def test_when_all_have_crashed_the_model_is_lost():
    faults = (Crash(0, 9.0, 1.0), Crash(1, 9.0, 1.0), Crash(2, 9.0, 1.0))

    with pytest.raises(StallError, match=r"waits for nobody \(the model and the next round"):
        _run(*faults, jobs=100)


@pytest.mark.parametrize("seed", range(6))
def test_members_that_come_and_go_agree_on_the_mean_of_each_round(seed, follow):
    """Replicas of the living equal start - step * sum of share * gradient, gradients by view."""
    laws = (Exponential(6.0), Exponential(2.0))
    faults = (RandomCrashes(0, *laws), RandomCrashes(2, *laws), LateStart(3, 7.0))
    schedule = _run(*faults, n=4, jobs=60, law=Exponential(1.0), seed=seed)

    x, _, _ = follow(schedule, lambda view: 2.0 * view + 1.0, 0.125)
    constant, _, _ = follow(schedule, lambda view: 1.0, 0.125)

    rows = schedule.rows
    last = np.flatnonzero(rows.op == Op.STEP)[-1]
    living = np.unique(rows.replica[(rows.op == Op.STEP) & (rows.time == rows.time[last])])
    np.testing.assert_allclose(x[living], x[living[0]], rtol=1e-12)
    np.testing.assert_allclose(constant[living], 1.0 - 0.125 * schedule.jobs.share.sum())
    rounds = int(schedule.jobs.round.max()) + 1
    assert schedule.jobs.share.sum() <= rounds + 1e-9
    assert x[living[0]] == pytest.approx(1.5 * 0.75 ** round(schedule.jobs.share.sum()) - 0.5)


def test_a_member_that_reads_an_old_model_is_found():
    """Without the copy, a worker that restarts would compute at what it had before."""
    schedule = _run(Crash(1, 0.5, 1.0), jobs=9)
    rows = schedule.rows
    copied = rows.message[rows.op == Op.MIX][0]
    keep = rows.message != copied
    without = replace(rows, **{name: getattr(rows, name)[keep] for name in type(rows).__slots__})

    with pytest.raises(ScheduleError, match="who reads has the present model"):
        AllReduce().restate(replace(schedule, rows=without))


def test_faults_that_never_come_leave_the_rounds_as_they_are():
    plain = simulate(AllReduce(), Cluster.alike(3, Exponential(1.0), link=LINK),
                     until=Until(jobs=30), seed=4, payload=PAYLOAD)  # fmt: skip
    schedule = _run(Crash(1, 1e6), law=Exponential(1.0), jobs=30, seed=4)

    assert np.array_equal(schedule.jobs.begin, plain.jobs.begin)
    assert np.array_equal(schedule.jobs.share, plain.jobs.share)
    for op in (Op.READ, Op.ENCODE, Op.STEP):
        times = [s.rows.time[s.rows.op == op] for s in (schedule, plain)]
        assert np.array_equal(*times)
