"""Workers that are suspended and go on, and clocks that disagree."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator import Clock, Cluster, Link, Until, Worker, own_times, simulate
from elastic_consistency.simulator.delays import Constant, Exponential, Preemption
from elastic_consistency.simulator.protocols import AsynchronousServer


def _run(cluster, jobs, seed=1):
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=seed)


def test_a_suspended_computation_goes_on_where_it_stopped():
    """Runs 3 s, stands 2 s: jobs of 2 s end at 2, 6, 8, 12, ... s; none of their work is lost."""
    law = Preemption(Constant(2.0), Constant(3.0), Constant(2.0))

    rows = _run(Cluster.alike(1, law), 4).rows

    assert rows.time[rows.op == Op.ENCODE].tolist() == [2.0, 6.0, 8.0, 12.0]
    assert law.mean() == pytest.approx(2.0 * 5 / 3)


def test_suspensions_are_told_with_their_begin_and_end(tmp_path):
    """Runs 3 s, stands 2 s; the run ends at 12 s, in the running phase that began at 10 s."""
    law = Preemption(Constant(2.0), Constant(3.0), Constant(2.0))

    schedule = _run(Cluster.alike(1, law), 4)

    schedule.check()
    schedule.save(tmp_path / "suspended")
    told = Schedule.load(tmp_path / "suspended").metadata.annotations
    assert [(a.kind, a.worker, a.time, float(a.detail)) for a in told] == [
        ("suspended", 0, 3.0, 5.0),
        ("suspended", 0, 8.0, 10.0),
    ]
    # Each remark belongs before the first row that is not earlier than it.
    assert [schedule.rows.time[a.row] >= a.time for a in told] == [True, True]
    assert [schedule.rows.time[a.row - 1] < a.time for a in told] == [True, True]


def test_a_computation_takes_its_work_and_the_suspensions_in_it():
    """ENCODE - begin = work + the parts of suspensions in between, on every worker."""
    law = Preemption(Constant(0.75), Exponential(2.0), Exponential(1.0))

    schedule = _run(Cluster.alike(3, law), 200)

    ends = schedule.rows.time[schedule.rows.op == Op.ENCODE]
    jobs = schedule.rows.job[schedule.rows.op == Op.ENCODE]
    assert len(schedule.metadata.annotations) > 20
    for job, end in zip(jobs, ends, strict=True):
        begin, worker = schedule.jobs.begin[job], schedule.jobs.worker[job]
        stood = sum(
            max(0.0, min(float(a.detail), end) - max(a.time, begin))
            for a in schedule.metadata.annotations
            if a.worker == worker
        )
        assert end - begin == pytest.approx(0.75 + stood)


def test_the_long_run_mean_of_preemption_is_exact():
    """Work done by time t has mean speed * t: 6 standard errors of it, false-alarm rate 2e-9."""
    law = Preemption(Exponential(0.5), Exponential(4.0), Exponential(1.0))
    n = 30_000

    end = _run(Cluster.alike(1, law), n).rows.time[-1]

    # Renewals: work of a cycle minus speed times its length is .2 running - .8 suspended.
    cycles = end / 5.0
    error = sqrt(cycles * ((0.2 * 4) ** 2 + (0.8 * 1) ** 2) + n * 0.5**2) / 0.8
    assert abs(end - n * law.mean()) <= 6 * error
    assert 6 * error < 0.06 * end


def test_preemption_that_never_comes_is_no_preemption():
    law = Preemption(Exponential(1.0), Constant(1e9), Constant(1.0))

    plain, rare = _run(Cluster.alike(3, Exponential(1.0)), 60), _run(Cluster.alike(3, law), 60)

    np.testing.assert_allclose(rare.rows.time, plain.rows.time, rtol=1e-12)
    assert np.array_equal(rare.rows.job, plain.rows.job)


@pytest.mark.parametrize("name", ["running", "suspended"])
def test_preemption_says_what_it_refuses(name):
    laws = {"work": Constant(1.0), "running": Constant(1.0), "suspended": Constant(1.0)}
    with pytest.raises(ValueError, match=rf"Preemption.{name} must be a law with a finite mean"):
        Preemption(**(laws | {name: Constant(0.0)}))


SKEWED = (Clock(100.0, 1e-2), Clock(-3.5, -2e-3), Clock())


def _skewed():
    link = Link(0.1)
    workers = (Worker(Exponential(1.0), uplink=link, downlink=link, clock=c) for c in SKEWED)
    return Cluster(tuple(workers), fabric=link)


def test_skew_changes_no_event_and_is_told():
    cluster = _skewed()
    true = replace(cluster, workers=tuple(replace(w, clock=Clock()) for w in cluster.workers))

    schedule, plain = _run(cluster, 60), _run(true, 60)

    schedule.check()
    assert np.array_equal(schedule.rows.time, plain.rows.time)
    assert np.array_equal(schedule.rows.job, plain.rows.job)
    told = [(a.kind, a.worker) for a in schedule.metadata.annotations]
    assert told == [("clock", 0), ("clock", 1)]
    assert schedule.digest() != plain.digest()


def test_own_times_are_what_each_clock_shows(tmp_path):
    schedule = _run(_skewed(), 60)
    schedule.save(tmp_path / "skewed")

    times, rows = own_times(Schedule.load(tmp_path / "skewed")), schedule.rows

    for worker, clock in enumerate(SKEWED):
        own = rows.worker == worker
        np.testing.assert_array_equal(times[own], [clock.reading(t) for t in rows.time[own]])
        assert (np.diff(times[own]) >= 0).all()
    assert np.array_equal(times[rows.worker < 0], rows.time[rows.worker < 0])
    assert (np.diff(times) < 0).any()


def test_skew_is_found_again_from_exchanges():
    """An exchange stamps the same true moment on the server's clock and on the worker's.

    ADD is stamped by the server, the READ in the same exchange by the worker: a straight line
    through the two gives offset and drift back.
    """
    schedule = _run(_skewed(), 90)

    times, rows = own_times(schedule), schedule.rows
    for worker, clock in enumerate(SKEWED):
        read = np.flatnonzero((rows.op == Op.READ) & (rows.worker == worker))[1:]
        drift, offset = np.polyfit(times[read - 3], times[read], 1)
        assert offset == pytest.approx(clock.offset_s, abs=1e-9)
        assert drift == pytest.approx(1 + clock.drift, abs=1e-9)


def test_a_clock_says_what_it_refuses():
    with pytest.raises(ValueError, match=r"Clock.drift must be a finite number > -1, got -1"):
        Clock(drift=-1.0)
    with pytest.raises(ValueError, match=r"Clock.offset_s must be a finite number of seconds"):
        Clock(float("nan"))
