"""Crashes, restarts, late starts, partitions, lost acknowledgements, a shared port."""

from dataclasses import replace
from math import inf, log, sqrt

import numpy as np
import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st
from unreliable import BASE, SCRIPTS

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    LateStart,
    Link,
    Partition,
    Payload,
    RandomCrashes,
    SharedHost,
    StallError,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.processors.processor_sharing import ProcessorSharing
from elastic_consistency.simulator.protocols import AsynchronousServer, LossyBroadcast


def _run(script=None, jobs=150, cluster=BASE, seed=1, **arguments):
    used = cluster if script is None else replace(cluster, faults=script)
    return simulate(AsynchronousServer(), used, until=Until(jobs=jobs), seed=seed, **arguments)


def _kinds(schedule):
    return [remark.kind for remark in schedule.metadata.annotations if remark.kind != "faults"]


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_schedule_with_faults_is_valid_reproducible_and_not_the_plain_one(script):
    schedule = _run(script)

    schedule.check()
    AsynchronousServer().restate(schedule)
    assert schedule.digest() == _run(script).digest() != _run().digest()
    told = schedule.describe()["provenance"]["cluster"]["faults"]
    assert told["version"] == 1


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_schedule_with_faults_can_be_cut(script):
    cut = simulate(AsynchronousServer(), replace(BASE, faults=script),
                   until=Until(time_s=12.0, drain=False), seed=1)  # fmt: skip

    cut.check()
    AsynchronousServer().restate(cut)


def test_faults_that_never_happen_change_nothing():
    script = FaultScript(
        (Crash(1, 1e6), LateStart(0, 1e-9), Partition((2,), 1e6, 2e6)), 1e-300, 1.0
    )

    faulty, plain = _run(script), _run()

    first = plain.rows.time == 0
    np.testing.assert_allclose(faulty.rows.time[~first], plain.rows.time[~first], atol=1e-8)
    assert np.array_equal(np.sort(faulty.rows.op[first]), np.sort(plain.rows.op[first]))
    assert np.array_equal(faulty.rows.worker[~first], plain.rows.worker[~first])


def test_a_crash_loses_one_computation_and_a_restart_reads_anew():
    schedule = _run(SCRIPTS["crash and restart"])

    rows = schedule.rows
    (death,) = np.flatnonzero(rows.op == Op.CRASH)
    own = np.flatnonzero((rows.op == Op.READ) & (rows.worker == 1))
    assert rows.time[death] == 3.0
    assert rows.time[own[own > death][0]] == 8.0
    assert _kinds(schedule) == ["restart"]
    assert (schedule.jobs.share == 0).sum() <= 1


def test_what_was_sent_before_a_crash_still_arrives():
    """The update leaves at 1 s and arrives at 3 s; its worker dies at 2 s."""
    cluster = Cluster.alike(1, Constant(1.0), link=Link(0.0))
    worker = replace(cluster.workers[0], uplink=Link(2.0))

    schedule = _run(FaultScript((Crash(0, 2.0, 5.0),)), 2, replace(cluster, workers=(worker,)))

    assert schedule.rows.time[schedule.rows.op == Op.ADD].tolist() == [3.0, 10.0]
    assert schedule.jobs.share.tolist() == [1.0, 1.0]


def test_a_late_worker_joins_at_its_time():
    rows = _run(SCRIPTS["late start"]).rows

    assert rows.time[(rows.op == Op.READ) & (rows.worker == 0)][0] == 10.0


def test_a_partition_holds_back_what_arrives_while_it_lasts():
    schedule = _run(SCRIPTS["partition"])

    rows = schedule.rows
    jobs = rows.job[(rows.op == Op.READ) & np.isin(rows.worker, (0, 1))]
    applied = rows.time[(rows.op == Op.ADD) & np.isin(rows.job, jobs)]
    assert not ((applied >= 5.0) & (applied < 15.0)).any()
    # Each of the two was waiting either for its update to arrive or for its model.
    pulled = schedule.jobs.begin[np.unique(jobs)]
    assert (np.abs(applied - 15.0) < 1e-9).sum() + (np.abs(pulled - 15.0) < 1e-9).sum() == 2


def test_a_lost_acknowledgement_is_heard_twice_and_counted_once():
    """Hoeffding, false-alarm rate 1e-6, over 2,000 updates; finds 0.06."""
    script, jobs = FaultScript((), 0.3, resend_s=0.7), 2000

    schedule, plain = _run(script, jobs), _run(FaultScript((), 1e-300, 0.7), jobs)

    part = _kinds(schedule).count("duplicate") / jobs
    assert abs(part - 0.3) <= sqrt(log(2 / 1e-6) / (2 * jobs))
    assert np.array_equal(schedule.rows.job, plain.rows.job)
    assert np.array_equal(schedule.rows.time, plain.rows.time)


def test_a_cluster_of_the_dead_is_a_stall_that_names_them():
    script = FaultScript(tuple(Crash(k, 2.0) for k in range(4)))

    with pytest.raises(StallError, match=r"worker 0 waits for nobody \(it has crashed\)"):
        _run(script)


def test_a_protocol_that_knows_no_faults_refuses_them():
    cluster = replace(BASE, faults=SCRIPTS["crash"])

    with pytest.raises(ValueError, match=r"LossyBroadcast knows neither crashes nor late"):
        simulate(LossyBroadcast(0.1), cluster, until=Until(jobs=9), seed=0)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_n_transfers_at_once_share_the_port(n):
    """All pull at time 0: n * bytes / bandwidth, and the same again for the pushes."""
    cluster = replace(Cluster.alike(n, Constant(1.0)), server_bandwidth_bytes_per_s=100.0)

    schedule = _run(None, n, cluster, payload=Payload(50.0, 25.0))

    np.testing.assert_allclose(schedule.jobs.begin, n * 0.5)
    applied = schedule.rows.time[schedule.rows.op == Op.ADD]
    np.testing.assert_allclose(applied, n * 0.5 + 1.0 + n * 0.25)
    schedule.check()


def _finish_times(arrivals, works, speed):
    """By brute force: all remaining works are reduced at every arrival and every end."""
    left, ends, now = {}, {}, 0.0
    waiting = sorted(range(len(works)), key=lambda k: arrivals[k])
    while waiting or left:
        pace = speed(len(left)) if left else 1.0
        until_end = min(left.values()) / pace if left else inf
        until_next = arrivals[waiting[0]] - now if waiting else inf
        passed = min(until_end, until_next)
        now += passed
        left = {k: work - passed * pace for k, work in left.items()}
        for k in [k for k, work in left.items() if work <= 1e-9]:
            ends[k] = now
            del left[k]
        while waiting and arrivals[waiting[0]] <= now + 1e-12:
            left[waiting[0]] = works[waiting[0]]
            waiting.pop(0)
    return [ends[k] for k in range(len(works))]


@given(
    tasks=st.lists(
        st.tuples(st.floats(0, 10).map(lambda x: round(x, 2)), st.floats(0.1, 5)),
        min_size=1,
        max_size=8,
    ),
    contention=st.floats(0, 1),
)
def test_processor_sharing_equals_brute_force(tasks, contention):
    def speed(n):
        return 1 / (1 + contention * (n - 1))

    env, ends = simpy.Environment(), {}
    sharing = ProcessorSharing(env, speed)

    def run(k, arrival, work):
        yield env.timeout(arrival)
        sharing.start(work, lambda: ends.__setitem__(k, env.now))

    for k, (arrival, work) in enumerate(tasks):
        env.process(run(k, arrival, work))
    env.run()

    expected = _finish_times(*zip(*tasks, strict=True), speed)
    np.testing.assert_allclose([ends[k] for k in range(len(tasks))], expected, atol=1e-6)
    assert sharing.n_active == 0


def test_a_cancelled_task_frees_its_share():
    env, ends = simpy.Environment(), []
    sharing = ProcessorSharing(env, lambda n: 1 / n)

    def run():
        sharing.start(2.0, lambda: ends.append(env.now))
        number = sharing.start(5.0, lambda: ends.append(-1.0))
        yield env.timeout(2.0)
        sharing.cancel(number)

    env.process(run())
    env.run()

    assert ends == [3.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Crash(0, -1.0), r"Crash.at_s must be a number of seconds >= 0, got -1.0."),
        (lambda: Crash(0, 1.0, 0.0), r"Crash.down_s must be"),
        (lambda: LateStart(0, 0.0), r"LateStart.at_s must be"),
        (lambda: Partition((0,), 2.0, 1.0), r"Partition.until_s must be"),
        (lambda: RandomCrashes(0, Constant(0.0), Constant(1.0)), r"RandomCrashes.between must be"),
        (lambda: FaultScript((), 1.0, 1.0), r"FaultScript.lost_acknowledgements must be"),
        (lambda: FaultScript((LateStart(0, 1.0),) * 2), r"at most one LateStart a worker"),
        (lambda: FaultScript(version=2), r"FaultScript.version must be 1, the only one"),
        (lambda: replace(BASE, faults=FaultScript((Crash(9, 1.0),))), r"about workers 0..3"),
        (
            lambda: replace(BASE, server_bandwidth_bytes_per_s=0.0),
            r"Cluster.server_bandwidth_bytes_per_s must be",
        ),
    ],
)
def test_a_fault_script_says_what_it_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_workers_of_one_host_slow_each_other_down():
    """Three of constant time 1 s at contention .5: 1 / speed(3) = 2 s; the fourth is alone."""
    cluster = replace(Cluster.alike(4, Constant(1.0)), shared_hosts=(SharedHost((0, 1, 2), 0.5),))

    schedule = _run(None, 8, cluster)

    rows = schedule.rows
    encoded = {w: rows.time[(rows.op == Op.ENCODE) & (rows.worker == w)][0] for w in range(4)}
    assert encoded == pytest.approx({0: 2.0, 1: 2.0, 2: 2.0, 3: 1.0})
    schedule.check()
    AsynchronousServer().restate(schedule)


def test_no_contention_is_no_sharing():
    free = replace(BASE, shared_hosts=(SharedHost((0, 1, 2, 3), 0.0),))

    np.testing.assert_allclose(_run(None, 150, free).rows.time, _run().rows.time, atol=1e-9)


def test_a_crash_on_a_shared_host_leaves_the_others_more():
    cluster = replace(Cluster.alike(2, Constant(1.0)), shared_hosts=(SharedHost((0, 1), 1.0),))

    rows = _run(FaultScript((Crash(0, 1.0),)), 2, cluster).rows

    # Both have done half of their work when worker 0 dies; the other then runs at full speed.
    assert rows.time[rows.op == Op.ENCODE].tolist() == [1.5]


def test_a_host_says_what_it_refuses():
    with pytest.raises(ValueError, match=r"SharedHost.contention must be a number >= 0, got -1"):
        SharedHost((0,), -1)
    with pytest.raises(ValueError, match=r"SharedHost.workers must be different workers"):
        SharedHost((0, 0), 0.5)
    with pytest.raises(ValueError, match=r"Cluster.shared_hosts must be about workers 0..3"):
        replace(BASE, shared_hosts=(SharedHost((4,), 0.5),))
