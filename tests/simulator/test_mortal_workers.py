"""Crashes, restarts and late starts in every protocol that knows them."""

from dataclasses import replace

import numpy as np
import pytest
from unreliable import BASE, SCRIPTS

from elastic_consistency.schedule import Op, ScheduleError
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    LateStart,
    Link,
    Payload,
    SharedHost,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import (
    AbstractBlockProtocol,
    BackupWorkers,
    BoundedStaleness,
    IncrementalAggregate,
    LocalStepsServer,
    Rennala,
    Ringmaster,
)


def _inert(schedule):
    # The workers of BASE are linked to each other too, which no server needs.
    return set(schedule.metadata.provenance["inert"]) - {"links between workers"}


def _run(protocol, cluster=BASE, jobs=150, seed=1, **arguments):
    return simulate(protocol, cluster, until=Until(jobs=jobs), seed=seed, **arguments)


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_faults_bite_and_leave_a_valid_reproducible_schedule(mortal, script):
    cluster = replace(BASE, faults=script)

    schedule = _run(mortal, cluster)

    schedule.check()
    mortal.restate(schedule)
    assert not np.isnan(schedule.jobs.share).any()
    bites = schedule.digest() != _run(mortal).digest()
    assert bites or _inert(schedule)
    assert schedule.digest() == _run(mortal, cluster).digest()


def test_a_schedule_with_faults_can_be_cut(mortal):
    if isinstance(mortal, AbstractBlockProtocol):
        pytest.skip("a protocol with blocks cannot be cut in the middle, and says so")
    cluster = replace(BASE, faults=SCRIPTS["everything"])

    cut = simulate(mortal, cluster, until=Until(time_s=12.0, drain=False), seed=1)

    cut.check()
    mortal.restate(cut)


def test_faults_of_another_worker_are_another_schedule(mortal):
    digests = {
        _run(mortal, replace(BASE, faults=FaultScript((fault,)))).digest()
        for fault in (Crash(1, 3.0, 5.0), Crash(2, 3.0, 5.0), Crash(1, 4.0, 5.0), Crash(1, 3.0))
        if not (isinstance(mortal, IncrementalAggregate) and fault.down_s > 1e9)
    }

    assert len(digests) >= 3


def test_a_shared_host_bites_and_is_valid(mortal):
    cluster = replace(BASE, shared_hosts=(SharedHost((0, 1, 2), 0.5),))

    schedule = _run(mortal, cluster)

    schedule.check()
    mortal.restate(schedule)
    assert schedule.digest() != _run(mortal).digest()


def test_nobody_waits_for_the_dead_under_bounded_staleness():
    """Worker 0 dies for good; with bound 0 the others go on in rounds of three."""
    cluster = replace(Cluster.alike(4, Constant(1.0)), faults=FaultScript((Crash(0, 2.5),)))

    schedule = _run(BoundedStaleness(0), cluster, jobs=20)

    reads = schedule.rows.time[schedule.rows.op == Op.READ]
    assert np.unique(reads, return_counts=True)[1].tolist() == [4, 4, 4, 3, 3, 2]
    assert (schedule.jobs.share == 0).sum() == 1


def test_who_joins_under_bounded_staleness_is_as_far_as_the_slowest():
    cluster = replace(Cluster.alike(2, Constant(1.0)), faults=FaultScript((LateStart(0, 5.25),)))

    rows = _run(BoundedStaleness(0), cluster, jobs=13).rows

    reads = {w: rows.time[(rows.op == Op.READ) & (rows.worker == w)].tolist() for w in (0, 1)}
    # Worker 1 runs alone, and from 6 s on it waits for the newcomer in every round.
    assert reads[1] == [0, 1, 2, 3, 4, 5, 6.25, 7.25, 8.25, 9.25][: len(reads[1])]
    assert reads[0] == [5.25, 6.25, 7.25, 8.25, 9.25][: len(reads[0])]


def test_a_restatement_finds_a_worker_who_runs_ahead_of_a_newcomer():
    cluster = replace(BASE, faults=SCRIPTS["everything"])

    schedule = _run(BoundedStaleness(3), cluster)

    BoundedStaleness(3).restate(schedule)
    with pytest.raises(ScheduleError, match="nobody runs ahead"):
        BoundedStaleness(0).restate(schedule)


@pytest.mark.parametrize("protocol", [Rennala(3), BackupWorkers(3)], ids=["Rennala", "backup"])
def test_a_batch_counts_what_was_sent_before_a_crash(protocol):
    """Updates leave at 1 s and arrive at 3 s; worker 0 dies at 2 s, and the batch is full."""
    machine = replace(Cluster.alike(1, Constant(1.0)).workers[0], uplink=Link(2.0))
    cluster = Cluster((machine,) * 3, faults=FaultScript((Crash(0, 2.0),)))

    schedule = simulate(protocol, cluster, until=Until(jobs=3), seed=0)

    assert schedule.jobs.share.tolist() == [1 / 3] * 3
    assert schedule.rows.time[schedule.rows.op == Op.STEP].tolist() == [3.0]


def test_a_crash_loses_the_whole_window_of_local_steps():
    """Steps end at 1, 2, 3 s; the worker dies at 2.5 s and pulls again at 10 s."""
    cluster = replace(Cluster.alike(1, Constant(1.0)), faults=FaultScript((Crash(0, 2.5, 7.5),)))

    schedule = _run(LocalStepsServer(3), cluster, jobs=6)

    schedule.check()
    assert schedule.jobs.share.tolist() == [0, 0, 0, 1, 1, 1]
    pulls = schedule.rows.time[schedule.rows.op == Op.MIX]
    assert pulls.tolist() == [0.0, 10.0]


def test_a_commit_from_before_a_crash_starts_no_second_pull():
    """It leaves at 3 s and arrives at 7 s, as the worker, back at 4 s, has computed again."""
    machine = replace(Cluster.alike(1, Constant(3.0)).workers[0], uplink=Link(4.0))
    cluster = Cluster((machine,), faults=FaultScript((Crash(0, 3.5, 0.5),)))

    schedule = _run(LocalStepsServer(1), cluster, jobs=3)

    schedule.check()
    assert schedule.jobs.begin.tolist() == [0.0, 4.0, 11.0]
    assert schedule.jobs.share.tolist() == [1.0, 1.0, 1.0]


def test_the_ring_may_lose_a_job_only_in_a_crash():
    cluster = replace(BASE, faults=SCRIPTS["everything"])
    schedule = _run(Ringmaster(50), cluster)

    gone = schedule.jobs.share == 0
    crashes = (schedule.rows.op == Op.CRASH).sum()

    assert 0 < gone.sum() <= crashes


def test_the_server_port_bites_where_there_is_one(mortal):
    cluster = replace(BASE, server_bandwidth_bytes_per_s=1e4)

    schedule = _run(mortal, cluster, payload=Payload(1e3, 1e3))

    schedule.check()
    mortal.restate(schedule)
    bites = schedule.digest() != _run(mortal).digest()
    assert bites != ("shared port of the server" in _inert(schedule))
