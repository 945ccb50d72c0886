"""The engine: stalls, refused arguments, provenance, lazy imports."""

import subprocess
import sys
from dataclasses import dataclass
from typing import final

import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    Cluster,
    Graph,
    Link,
    Payload,
    StallError,
    Until,
    Wait,
    Worker,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AllReduce,
    AsynchronousServer,
    Gossip,
    MessagePassing,
    Ringmaster,
)


@final
@dataclass(frozen=True)
class Deadlock(AbstractProtocol):
    """Two workers that wait for each other, after `begins` of them have begun a job."""

    begins: int = 0

    def hosts(self, cluster):
        return (-1,)

    def start(self, simulation):
        for worker in range(self.begins):
            simulation.admit(0.0)
            job = simulation.record.job(worker)
            simulation.record.read(job, 0)
        simulation.waits[0] = Wait(0, (1,), "its turn")
        simulation.waits[1] = Wait(1, (0,), "its turn")

    def restate(self, schedule):
        pass


def test_a_stall_names_who_waits_for_whom():
    with pytest.raises(StallError, match=r"worker 0 waits for worker 1 .its turn.; worker 1") as e:
        simulate(Deadlock(), Cluster.alike(2, Constant(1.0)), until=Until(jobs=9), seed=0)

    assert e.value.waits == (Wait(0, (1,), "its turn"), Wait(1, (0,), "its turn"))


def test_a_job_that_never_ends_is_a_stall_even_at_the_limit():
    with pytest.raises(StallError, match="worker 0 waits for"):
        simulate(Deadlock(begins=2), Cluster.alike(2, Constant(1.0)), until=Until(jobs=1), seed=0)


def test_a_long_list_of_waits_is_shortened():
    wait = Wait(-1, tuple(range(20)), "all updates")

    assert str(wait).startswith("the server waits for worker 0, worker 1,")
    assert str(wait).endswith("worker 7 and 12 more (all updates)")


@pytest.mark.parametrize(("count", "more"), [(8, ""), (9, " and 1 more")])
def test_eight_are_named_before_a_list_is_shortened(count, more):
    waits = tuple(Wait(worker, (-1,), "its turn") for worker in range(count))

    assert str(Wait(-1, tuple(range(count)), "x")).endswith(f"worker 7{more} (x)")
    last = "worker 7 waits for the server (its turn)"
    assert str(StallError(2.0, waits)).endswith(last + (more and f";{more}") + ".")


def test_an_idle_worker_changes_nothing_but_counters():
    """A worker that computes for longer than the run lasts, and does not meet the others."""
    fast = (Worker(Exponential(1.0)),) * 3
    idle = Worker(Constant(1e6))
    until = Until(time_s=30.0, drain=False)

    without = simulate(AsynchronousServer(), Cluster(fast), until=until, seed=4)
    with_idle = simulate(AsynchronousServer(), Cluster((*fast, idle)), until=until, seed=4)

    kept = with_idle.rows.worker != 3
    assert np.array_equal(without.rows.time, with_idle.rows.time[kept])
    assert np.array_equal(without.rows.op, with_idle.rows.op[kept])
    assert np.array_equal(without.rows.worker, with_idle.rows.worker[kept])


@pytest.mark.parametrize("direction", ["uplink", "downlink"])
def test_both_directions_of_a_server_link_bite(direction):
    cluster = Cluster((Worker(Exponential(1.0), **{direction: Link(0.1)}),) * 3)
    plain = Cluster.alike(3, Exponential(1.0))

    times = [
        simulate(AsynchronousServer(), used, until=Until(jobs=30), seed=1).rows.time[-1]
        for used in (plain, cluster)
    ]

    assert times[0] < times[1]


@pytest.mark.parametrize(
    "protocol",
    [AsynchronousServer(), AllReduce(), Ringmaster(3), MessagePassing(2), Gossip(Graph.ring(4))],
)
def test_no_job_begins_at_the_limit_of_time(protocol):
    """Computations of exactly 1 s end at the limit, and nobody reads for a new one there."""
    until = Until(time_s=3.0)

    schedule = simulate(protocol, Cluster.alike(4, Constant(1.0)), until=until, seed=2)

    gradients = schedule.rows.op == Op.GRADIENT
    assert np.array_equal(np.unique(schedule.rows.time[gradients]), [0.0, 1.0, 2.0])


def test_a_bandwidth_without_sizes_is_refused_because_it_would_be_inert():
    cluster = Cluster.alike(2, Constant(1.0), link=Link(bandwidth_bytes_per_s=1e6))

    with pytest.raises(ValueError, match=r"payload=Payload.uncompressed"):
        simulate(AsynchronousServer(), cluster, until=Until(jobs=2), seed=0)


def test_a_clock_that_cannot_advance_is_refused():
    with pytest.raises(ValueError, match=r"Until.jobs must be given .* got None"):
        simulate(AsynchronousServer(), Cluster.alike(2, Constant(0.0)), until=Until(time_s=1.0),
                 seed=0)  # fmt: skip


def test_a_limit_below_one_round_is_refused():
    with pytest.raises(ValueError, match=r"Until.jobs must be large enough for one round, got 2"):
        simulate(AllReduce(), Cluster.alike(3, Constant(1.0)), until=Until(jobs=2), seed=0)


def test_provenance_holds_protocol_cluster_limit_and_sizes():
    schedule = simulate(
        AllReduce(), Cluster.alike(2, Constant(1.0)), until=Until(jobs=2), seed=0,
        payload=Payload(7.0, 3.0),
    )  # fmt: skip

    told = schedule.describe()["provenance"]
    assert told["protocol"] == {"type": "AllReduce", "collective": {"type": "Ring"}}
    assert told["cluster"]["workers"][0]["value"]["compute"]["seconds"] == 1.0
    assert told["until"]["jobs"] == 2
    sizes = {"model_bytes": 7.0, "update_bytes": 3.0, "encode_s": 0.0}
    assert told["payload"] == {"type": "Payload", **sizes}


def test_importing_the_simulator_leaves_scipy_alone():
    code = "import sys, elastic_consistency.simulator.protocols; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert not {"scipy", "scipy.special", "scipy.stats", "torch"} & set(loaded.stdout.split())
