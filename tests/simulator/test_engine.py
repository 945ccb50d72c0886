"""The engine: limits, draining, stalls, ties, reproducibility, causality."""

import subprocess
import sys
from dataclasses import dataclass
from typing import final

import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    Cluster,
    Link,
    Payload,
    StallError,
    Until,
    Wait,
    Worker,
    simulate,
)
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AllReduce,
    AsynchronousServer,
)

PROTOCOLS = [AsynchronousServer(), AllReduce()]
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: type(p).__name__)


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


@final
@dataclass(frozen=True)
class WithNoise(AbstractProtocol):
    """Another protocol, next to an alarm that rings and does nothing."""

    protocol: AbstractProtocol

    def hosts(self, cluster):
        return self.protocol.hosts(cluster)

    def start(self, simulation):
        def ring(event):
            if not simulation.refused:
                alarm.set(0.125)

        alarm = Alarm(simulation.env, ring)
        alarm.set(0.0)
        self.protocol.start(simulation)

    def restate(self, schedule):
        self.protocol.restate(schedule)


@every_protocol
def test_a_schedule_is_valid_and_is_what_its_protocol_says(protocol, uneven_cluster, payload):
    schedule = simulate(protocol, uneven_cluster, until=Until(jobs=60), seed=1, payload=payload)

    schedule.check()
    protocol.restate(schedule)


@every_protocol
def test_the_same_seed_gives_the_same_schedule_and_another_another(protocol):
    cluster, until = Cluster.alike(4, Exponential(1.0)), Until(jobs=40)

    digests = [simulate(protocol, cluster, until=until, seed=s).digest() for s in (1, 1, 2)]

    assert digests[0] == digests[1] != digests[2]


@every_protocol
def test_no_job_begins_after_the_limit(protocol):
    cluster = Cluster.alike(3, Exponential(1.0))

    by_jobs = simulate(protocol, cluster, until=Until(jobs=31), seed=1)
    by_time = simulate(protocol, cluster, until=Until(time_s=9.0), seed=1)

    assert 31 - 3 < len(by_jobs.jobs) <= 31
    reads = by_time.rows.time[by_time.rows.op == Op.READ]
    assert 0 < reads.max() < 9.0 < by_time.rows.time[-1]


@every_protocol
def test_a_drained_schedule_leaves_nothing_in_flight(protocol):
    cluster = Cluster.alike(3, Exponential(1.0), link=Link(0.3))

    drained = simulate(protocol, cluster, until=Until(time_s=9.0), seed=1)
    cut = simulate(protocol, cluster, until=Until(time_s=9.0, drain=False), seed=1)

    assert not np.isnan(drained.jobs.share).any()
    assert np.isnan(cut.jobs.share).any()
    assert cut.rows.time[-1] < 9.0
    cut.check()
    protocol.restate(cut)


@every_protocol
def test_a_cut_schedule_is_the_beginning_of_the_drained_one(protocol):
    cluster = Cluster.alike(3, Exponential(1.0), link=Link(0.3))

    drained = simulate(protocol, cluster, until=Until(jobs=30), seed=1)
    cut = simulate(protocol, cluster, until=Until(jobs=30, drain=False), seed=1)

    n = len(cut.rows)
    assert 0 < n <= len(drained.rows)
    assert np.array_equal(cut.rows.time, drained.rows.time[:n])
    assert np.array_equal(cut.rows.op, drained.rows.op[:n])


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


@every_protocol
def test_events_at_equal_times_happen_in_the_order_in_which_they_were_set(protocol):
    """Equal constant delays: every event is a tie, and workers stay in order."""
    schedule = simulate(protocol, Cluster.alike(5, Constant(1.0)), until=Until(jobs=50), seed=0)

    encoded = schedule.rows.worker[schedule.rows.op == Op.ENCODE]
    assert encoded.tolist() == [0, 1, 2, 3, 4] * 10


@every_protocol
def test_an_alarm_that_does_nothing_changes_nothing(protocol, uneven_cluster, payload):
    arguments = {"until": Until(jobs=60), "seed": 3, "payload": payload}

    quiet = simulate(protocol, uneven_cluster, **arguments)
    noisy = simulate(WithNoise(protocol), uneven_cluster, **arguments)

    assert quiet.digest() == noisy.digest()


@every_protocol
def test_what_happens_before_a_time_does_not_depend_on_later_durations(protocol, script):
    """No foresight: two worlds that differ from the fourth job on agree until it could end."""

    def world(tail):
        cluster = Cluster.of_laws([script(1.0, 1.5, 1.25, tail, 9.0), script(2.0)])
        return simulate(protocol, cluster, until=Until(jobs=40), seed=0).rows

    short, long = world(1.0), world(30.0)

    begins = 6.0 if isinstance(protocol, AllReduce) else 3.75
    n = int((short.time < begins + 1.0).sum())
    assert n > 10
    for column in ("time", "op", "worker", "job"):
        assert np.array_equal(getattr(short, column)[:n], getattr(long, column)[:n])


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


@every_protocol
@pytest.mark.parametrize(
    "change",
    [
        lambda base: Cluster((Worker(Exponential(1.1)), *base.workers[1:]), base.fabric),
        lambda base: Cluster((Worker(Exponential(1.0), slowdown=2.0), *base.workers[1:])),
    ],
    ids=["law", "slowdown"],
)
def test_the_speed_of_a_worker_bites(protocol, change):
    base = Cluster.alike(3, Exponential(1.0))

    digests = [
        simulate(protocol, cluster, until=Until(jobs=30), seed=1).digest()
        for cluster in (base, change(base))
    ]

    assert digests[0] != digests[1]


@every_protocol
@pytest.mark.parametrize(
    "link",
    [Link(0.1), Link(0.0, Exponential(0.1)), Link(0.0, bandwidth_bytes_per_s=1e5)],
    ids=["latency", "jitter", "bandwidth"],
)
def test_every_part_of_a_link_bites(protocol, link):
    times = [
        simulate(
            protocol, Cluster.alike(3, Exponential(1.0), link=used), until=Until(jobs=30),
            seed=1, payload=Payload.uncompressed(1e4),
        ).rows.time[-1]
        for used in (Link(), link)
    ]  # fmt: skip

    assert times[0] < times[1]


@pytest.mark.parametrize("direction", ["uplink", "downlink"])
def test_both_directions_of_a_server_link_bite(direction):
    cluster = Cluster((Worker(Exponential(1.0), **{direction: Link(0.1)}),) * 3)
    plain = Cluster.alike(3, Exponential(1.0))

    times = [
        simulate(AsynchronousServer(), used, until=Until(jobs=30), seed=1).rows.time[-1]
        for used in (plain, cluster)
    ]

    assert times[0] < times[1]


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
    assert told["payload"] == {"type": "Payload", "model_bytes": 7.0, "update_bytes": 3.0}


def test_importing_the_simulator_leaves_scipy_alone():
    code = "import sys, elastic_consistency.simulator.protocols; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert not {"scipy", "scipy.special", "scipy.stats", "torch"} & set(loaded.stdout.split())
