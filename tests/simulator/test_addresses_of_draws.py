"""Every delay is the quantile of the uniform at its own address: cause, worker and position.

Position k of a worker's stream of computations is its k-th computation; its stream of links gives
turns to the server, from the server and to peers.
"""

import numpy as np
import pytest

from elastic_consistency.random_streams import Cause, uniforms
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    Cluster,
    FaultScript,
    Link,
    PeerLink,
    Until,
    Worker,
    simulate,
)
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.network.transfers import PeerNetwork
from elastic_consistency.simulator.protocols import AsynchronousServer, BoundedStaleness

SEED, JOBS = 11, 5
COMPUTE = (Exponential(1.0), Exponential(0.5), Exponential(2.0))
SLOWDOWN = (1.0, 8.0, 0.5)
UP, DOWN = Link(0.25, Exponential(0.2)), Link(0.5, Exponential(0.3))
WORKERS = tuple(
    Worker(law, slowdown, UP, DOWN) for law, slowdown in zip(COMPUTE, SLOWDOWN, strict=True)
)


def _drawn(law, cause, worker, first, step, count=JOBS):
    return law.quantile(uniforms(SEED, cause, worker, 0, first + step * count)[first::step][:count])


@pytest.mark.parametrize(
    ("protocol", "faults"),
    [
        (AsynchronousServer(), FaultScript()),
        (AsynchronousServer(), FaultScript(lost_acknowledgements=1e-9, resend_s=1.0)),
        (BoundedStaleness(1000), FaultScript()),
    ],
    ids=["lean", "unreliable", "client"],
)
def test_a_round_trip_is_drawn_from_the_streams_of_its_worker(protocol, faults):
    """A straggler is slow at computing; its links are like those of the others."""
    cluster = Cluster(WORKERS, faults=faults)

    schedule = simulate(protocol, cluster, until=Until(jobs=200), seed=SEED)

    rows, jobs = schedule.rows, schedule.jobs
    time_of = {op: np.full(len(jobs), np.nan) for op in (Op.READ, Op.ENCODE, Op.ADD)}
    for op, times in time_of.items():
        times[rows.job[rows.op == op]] = rows.time[rows.op == op]
    for worker in range(3):
        own = np.flatnonzero(jobs.worker == worker)[:JOBS]
        n = len(own)
        down = 0.5 + _drawn(DOWN.jitter, Cause.LINK, worker, 1, 3, n)
        compute = SLOWDOWN[worker] * _drawn(COMPUTE[worker], Cause.COMPUTE, worker, 0, 1, n)
        up = 0.25 + _drawn(UP.jitter, Cause.LINK, worker, 0, 3, n)
        ends = np.cumsum(down + compute + up)
        assert n == JOBS
        assert time_of[Op.READ][own] == pytest.approx(np.append(0.0, ends[:-1]))
        assert jobs.begin[own] == pytest.approx(time_of[Op.READ][own] + down)
        assert time_of[Op.ENCODE][own] == pytest.approx(jobs.begin[own] + compute)
        assert time_of[Op.ADD][own] == pytest.approx(ends)


@pytest.mark.parametrize("exceptions", [(), (PeerLink(1, 2, Link(9.0, Exponential(3.0))),)])
def test_jitter_between_workers_is_drawn_from_the_stream_of_the_sender(exceptions):
    fabric = Link(0.125, Exponential(0.4))
    network = PeerNetwork(Cluster(WORKERS, fabric, exceptions), SEED)

    for sender in (1, 0, 2):
        seconds = [network.seconds(sender, (sender + 2) % 3, 0.0) for _ in range(JOBS)]
        assert seconds == pytest.approx(0.125 + _drawn(fabric.jitter, Cause.LINK, sender, 2, 3))
