"""What must be true of every protocol: limits, draining, reproducibility, causality, knobs."""

from dataclasses import dataclass
from typing import final

import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Link, Payload, Until, Worker, simulate
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import (
    AbstractBlockProtocol,
    AbstractProtocol,
    AllReduce,
    AsynchronousElasticAveraging,
    AsynchronousServer,
    BackupWorkers,
    BoundedStaleness,
    Layerwise,
    LocalSgd,
    LocalStepsServer,
    MessagePassing,
    QueuedServer,
    Rennala,
    Ringmaster,
    SharedMemory,
)

N = 4
FREE = Cluster.alike(N, Exponential(1.0))
PAIR = pytest.mark.parametrize(
    "protocol", [AsynchronousServer(), AllReduce()], ids=["async", "sync"]
)


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


def _cut(protocol, until, cluster=FREE):
    if isinstance(protocol, AbstractBlockProtocol):
        pytest.skip("a protocol with blocks cannot be cut in the middle, and says so")
    return simulate(protocol, cluster, until=until, seed=1)


@pytest.mark.parametrize("until", [Until(jobs=90), Until(time_s=17.0)], ids=["jobs", "time"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_schedule_is_valid_and_is_what_its_protocol_says(
    protocol, uneven_cluster, payload, until, seed
):
    for cluster in (FREE, uneven_cluster):
        schedule = simulate(protocol, cluster, until=until, seed=seed, payload=payload)

        schedule.check()
        protocol.restate(schedule)
        assert not np.isnan(schedule.jobs.share).any()


def test_ties_and_zeros_are_valid_too(protocol):
    laws = [Constant(0.0), Constant(1.0), Constant(1.0), Constant(200.0)]

    schedule = simulate(protocol, Cluster.of_laws(laws), until=Until(jobs=60), seed=0)

    schedule.check()
    protocol.restate(schedule)


def test_the_same_seed_gives_the_same_schedule_and_another_another(protocol):
    digests = [simulate(protocol, FREE, until=Until(jobs=40), seed=s).digest() for s in (1, 1, 2)]

    assert digests[0] == digests[1] != digests[2]


def test_no_job_begins_after_the_limit(protocol):
    by_jobs = simulate(protocol, FREE, until=Until(jobs=31), seed=1)
    by_time = simulate(protocol, FREE, until=Until(time_s=9.0), seed=1)

    assert 18 <= (by_jobs.rows.op == Op.GRADIENT).sum() <= 31
    # A round or a window that has begun in time is completed.
    in_rounds = by_time.jobs.round.max() >= 0
    whole = in_rounds or isinstance(protocol, LocalStepsServer | SharedMemory)
    late = by_time.rows.time[by_time.rows.op == Op.GRADIENT] >= 9.0
    assert not late.all()
    assert late.sum() < 4 * N if whole else not late.any()


def test_a_cut_schedule_is_the_beginning_of_the_drained_one(protocol):
    drained = simulate(protocol, FREE, until=Until(time_s=9.0), seed=1)
    cut = _cut(protocol, Until(time_s=9.0, drain=False))

    n = len(cut.rows)
    cut.check()
    protocol.restate(cut)
    assert 0 < n < len(drained.rows)
    assert cut.rows.time[-1] < 9.0
    for column in ("time", "op", "worker", "job", "replica"):
        assert np.array_equal(getattr(cut.rows, column), getattr(drained.rows, column)[:n])


def test_a_protocol_with_blocks_refuses_to_be_cut(protocol):
    if not isinstance(protocol, AbstractBlockProtocol):
        pytest.skip("only protocols with blocks")
    with pytest.raises(ValueError, match=r"Until.drain must be True .* got False"):
        simulate(protocol, FREE, until=Until(jobs=9, drain=False), seed=0)


def test_an_alarm_that_does_nothing_changes_nothing(protocol, uneven_cluster, payload):
    if isinstance(protocol, AbstractBlockProtocol):
        pytest.skip("the wrapper has no blocks")
    arguments = {"until": Until(jobs=60), "seed": 3, "payload": payload}

    quiet = simulate(protocol, uneven_cluster, **arguments)
    noisy = simulate(WithNoise(protocol), uneven_cluster, **arguments)

    assert quiet.digest() == noisy.digest()


def test_a_seed_only_decides_what_is_random(protocol):
    """With constant delays two seeds differ in nothing but the protocol's own choices."""
    cluster = Cluster.of_laws([Constant(1.0), Constant(1.5), Constant(2.25), Constant(0.75)])
    chance = ("loss", "graph", "service", "read", "sizes")
    if any(name in type(protocol).__dataclass_fields__ for name in chance):
        pytest.skip("the protocol itself draws")

    rows = [simulate(protocol, cluster, until=Until(jobs=40), seed=s).rows for s in (1, 2)]

    assert np.array_equal(rows[0].time, rows[1].time)
    assert np.array_equal(rows[0].job, rows[1].job)


@pytest.mark.parametrize(
    "worker",
    [Worker(Exponential(1.1)), Worker(Exponential(1.0), slowdown=2.0)],
    ids=["law", "slowdown"],
)
def test_the_speed_of_a_worker_bites(protocol, worker):
    changed = Cluster((worker, *FREE.workers[1:]))

    digests = [
        simulate(protocol, cluster, until=Until(jobs=40), seed=1).digest()
        for cluster in (FREE, changed)
    ]

    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    "link",
    [Link(0.1), Link(0.0, Exponential(0.1)), Link(0.0, bandwidth_bytes_per_s=1e5)],
    ids=["latency", "jitter", "bandwidth"],
)
def test_every_part_of_a_link_bites_or_is_reported_as_inert(protocol, link):
    cluster = Cluster.alike(N, Exponential(1.0), link=link)

    schedules = [
        simulate(protocol, used, until=Until(jobs=40), seed=1, payload=Payload.uncompressed(1e4))
        for used in (FREE, cluster)
    ]

    before, after = (
        [part for part in schedule.metadata.provenance["inert"] if part.startswith("links")]
        for schedule in schedules
    )
    bites = schedules[0].digest() != schedules[1].digest()
    assert bites == (len(after) < 2)
    assert before == []


@PAIR
def test_events_at_equal_times_happen_in_the_order_in_which_they_were_set(protocol):
    """Equal constant delays: every event is a tie, and workers stay in order."""
    schedule = simulate(protocol, Cluster.alike(5, Constant(1.0)), until=Until(jobs=50), seed=0)

    encoded = schedule.rows.worker[schedule.rows.op == Op.ENCODE]
    assert encoded.tolist() == [0, 1, 2, 3, 4] * 10


def test_what_happens_before_a_time_does_not_depend_on_later_durations(protocol, script):
    """No foresight: two worlds that differ in one duration agree until it could have ended."""

    def world(seconds):
        scripts = [script(1.03), script(0.61, 0.61, seconds, 0.61), script(1.31), script(0.87)]
        return simulate(protocol, Cluster.of_laws(scripts), until=Until(jobs=60), seed=0)

    short, long = world(0.61), world(30.0)

    third = np.flatnonzero(short.jobs.worker == 1)[2]
    row = np.flatnonzero((short.rows.op == Op.ENCODE) & (short.rows.job == third))
    ended = short.rows.time[row[0]] if len(row) else short.rows.time[len(short.rows) // 4]
    end = int(np.searchsorted(short.rows.time, ended))
    if isinstance(protocol, Layerwise):  # its first layer is over long before its job
        end = int(np.searchsorted(short.rows.time, short.jobs.begin[third], "right"))
    assert end > 10
    for column in ("time", "op", "worker", "job", "message", "replica", "weight"):
        same = getattr(short.rows, column)[:end] == getattr(long.rows, column)[:end]
        assert same.all()


@pytest.mark.parametrize(
    "symmetric",
    [
        AsynchronousServer(),
        BoundedStaleness(1),
        BackupWorkers(2),
        QueuedServer(Constant(0.13)),
        Rennala(4),
        Ringmaster(2, stop=True),
        AllReduce(),
        MessagePassing(1),
        LocalSgd(2),
        AsynchronousElasticAveraging(0.3, 2),
    ],
    ids=lambda p: type(p).__name__,
)
def test_permuting_workers_permutes_the_schedule(symmetric, script):
    """Scripted workers in two orders; no ties, so that their numbers decide nothing."""
    scripts = [(1.03, 2.11, 0.57), (0.77, 1.19), (3.01, 0.41, 1.73, 0.29), (1.61, 0.83)]
    order = [2, 0, 3, 1]

    plain, moved = (
        simulate(symmetric, Cluster.of_laws(script(*s) for s in laws), until=Until(jobs=48), seed=0)
        for laws in (scripts, [scripts[k] for k in order])
    )

    for op in (Op.READ, Op.ENCODE):
        events = []
        for schedule, names in ((plain, range(4)), (moved, order)):
            rows = schedule.rows
            at = rows.op == op
            workers = [names[w] for w in rows.worker[at]]
            events.append(sorted(zip(rows.time[at].tolist(), workers, strict=True)))
        assert events[0] == events[1]
