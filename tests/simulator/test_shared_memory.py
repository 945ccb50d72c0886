"""Shared memory: torn views, torn updates, and the window that bounds the gap."""

import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap
from elastic_consistency.simulator import Cluster, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer, SharedMemory

CLUSTER = Cluster.alike(4, Exponential(1.0))


def _window(schedule):
    """Largest number of updates that change between a job's first READ and its first write.

    An update counts from its first to its last write, so that a torn one counts on both sides.
    """
    rows, n_jobs = schedule.rows, len(schedule.jobs)
    first_read, last_read, first_write, last_write = (np.zeros(n_jobs, int) for _ in range(4))
    for row in range(len(rows)):
        job = rows.job[row]
        if rows.op[row] == Op.READ:
            last_read[job] = row
            first_read[job] = first_read[job] or row + 1
        elif rows.op[row] == Op.ADD:
            last_write[job] = row
            first_write[job] = first_write[job] or row
    first_read -= 1
    return [
        int(((last_write > first_read[k]) & (first_write < last_write[k])).sum()) - 1
        for k in range(n_jobs)
    ]


@pytest.fixture(scope="module")
def torn():
    protocol = SharedMemory((1, 1, 1), Exponential(0.3), Exponential(0.3))
    return simulate(protocol, CLUSTER, until=Until(jobs=150), seed=3)


def test_instantaneous_reads_and_writes_are_the_asynchronous_server():
    until = Until(jobs=80)

    memory = simulate(SharedMemory((1, 1)), CLUSTER, until=until, seed=1)

    plain = compute_influence(simulate(AsynchronousServer(), CLUSTER, until=until, seed=1)).views
    views = compute_influence(memory).views
    assert np.array_equal(views[:, 0], plain[:, 0])
    assert np.array_equal(views[:, 1], plain[:, 0])


def test_views_and_updates_are_torn_in_both_directions(torn):
    """Some views hold an update in the first block only, others in the last block only."""
    views = compute_influence(torn).views

    assert (views[:, 0] > views[:, -1]).any()
    assert (views[:, 0] < views[:, -1]).any()


def test_the_gap_to_the_applied_sequence_is_at_most_the_window(torn):
    """|x_t - v_t| <= tau_max * M, without the square root of d (theory, section 2.3).

    x_t holds every update whose last write lies before the first write of job t.
    """
    rows, views = torn.rows, compute_influence(torn).views
    n_jobs = len(torn.jobs)
    last_write, first_write = np.zeros(n_jobs, int), np.full(n_jobs, len(rows))
    for row in np.flatnonzero(rows.op == Op.ADD)[::-1]:
        last_write[rows.job[row]] = max(last_write[rows.job[row]], row)
        first_write[rows.job[row]] = row
    applied = (last_write[None, :] < first_write[:, None]).astype(float)

    gaps = np.abs(views - applied[:, None, :]).max(axis=1).sum(axis=1)

    assert gaps.max() > 0
    assert (gaps <= _window(torn)).all()


def test_a_slow_reader_raises_the_window_at_will():
    """The others go through dozens of updates while it reads: its view mixes old and new."""
    protocol, gaps = SharedMemory((1,) * 4, Constant(0.05)), []
    for slowdown in (1.0, 10.0, 100.0):
        workers = (Worker(Exponential(0.2), slowdown), *(Worker(Exponential(0.2)),) * 3)
        schedule = simulate(protocol, Cluster(workers), until=Until(jobs=300), seed=1)
        gaps.append(largest_gap(compute_influence(schedule).started_difference()))

    assert gaps[0] < 8
    assert 2 * gaps[0] < gaps[1] < gaps[2]
    assert gaps[2] > 60
