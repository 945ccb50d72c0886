"""Logs become a schedule in which no effect comes before its cause."""

from types import SimpleNamespace

import pytest

from elastic_consistency.hardware_backend.live import clock as clocks
from elastic_consistency.hardware_backend.live.clock import Clock, Reading
from elastic_consistency.hardware_backend.live.log import Entry, Log
from elastic_consistency.hardware_backend.live.merge import merge
from elastic_consistency.schedule import SERVER, Op


def _merge(*logs: Log, hosts=(SERVER,), n_workers=2):
    return merge(
        list(logs), n_workers=n_workers, hosts=hosts, block_sizes=(), seed=0, provenance={}
    )


def _one_job(at_worker: float) -> tuple[Log, Log]:
    """A server that reads at 1 s and adds at 2 s, and a worker that encodes at `at_worker`."""
    server = Log(
        entries=[
            Entry(1.0, Op.READ, job=0, replica=0),
            Entry(2.0, Op.ADD, job=0, replica=0),
            Entry(2.0, Op.STEP, replica=0),
            Entry(2.0, Op.DROP, job=0, share=1.0),
        ],
        workers={0: 1},
    )
    worker = Log(entries=[Entry(at_worker, Op.ENCODE, job=0)], begins={0: at_worker - 0.25})
    return server, worker


def test_times_in_order_are_left_alone():
    merged = _merge(*_one_job(1.5))

    merged.schedule.check()
    assert merged.shift == 0.0
    assert merged.schedule.rows.op.tolist() == [
        Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.STEP, Op.DROP,
    ]  # fmt: skip
    assert merged.schedule.rows.time.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]
    assert merged.schedule.jobs.begin[0] == 0.25
    assert merged.schedule.jobs.worker[0] == 1


@pytest.mark.parametrize(("at_worker", "shift"), [(0.9, 0.35), (2.3, 0.3)])
def test_a_wrong_clock_moves_times_but_not_causes(at_worker, shift):
    """The worker seems to finish before it read, or after its update was added."""
    merged = _merge(*_one_job(at_worker))

    merged.schedule.check()
    assert merged.shift == pytest.approx(shift)
    assert merged.schedule.rows.op.tolist()[2] == Op.ENCODE


def test_a_message_is_put_by_all_before_anybody_uses_it():
    """Rank 1's clock is 5 s behind: its ADD seems to come before rank 0's PUT."""
    logs = [
        Log(
            entries=[
                Entry(10.0 - late, Op.READ, job=rank, replica=rank),
                Entry(11.0 - late, Op.ENCODE, job=rank),
                Entry(11.1 - late, Op.PUT, job=rank, message=7, weight=0.5),
                Entry(12.0 - late, Op.ADD, message=7, replica=rank),
                Entry(12.0 - late, Op.STEP, replica=rank),
                Entry(12.1 - late, Op.DROP, job=rank, share=0.5),
            ],
            workers={rank: rank},
            begins={rank: 10.0 - late},
        )
        for rank, late in ((0, 0.0), (1, 5.0))
    ]

    merged = _merge(*logs, hosts=(0, 1))

    merged.schedule.check()
    ops = merged.schedule.rows.op.tolist()
    assert max(k for k, op in enumerate(ops) if op == Op.PUT) < ops.index(Op.ADD)
    assert merged.shift == pytest.approx(4.1)


def test_a_job_begins_no_sooner_than_its_worker_is_free():
    """Encoded at 2.0 s and 3.0 s by clock, but the second claims to have begun at 1.5 s."""
    log = Log(
        entries=[
            Entry(1.0, Op.READ, job=0, replica=0),
            Entry(1.0, Op.READ, job=1, replica=0),
            Entry(2.0, Op.ENCODE, job=0),
            Entry(3.0, Op.ENCODE, job=1),
        ],
        workers={0: 1, 1: 1},
        begins={0: 1.25, 1: 1.5},
    )

    merged = _merge(log)

    assert merged.schedule.jobs.begin.tolist() == [0.25, 1.0]
    assert merged.shift == 0.5


def test_turns_at_shared_memory_beat_times():
    logs = [
        Log(
            entries=[Entry(time, Op.READ, job=job, replica=0, block=0, turn=turn)],
            workers={job: job},
        )
        for job, time, turn in ((0, 1.0, 1), (1, 1.1, 0))
    ]

    merged = _merge(*logs)

    assert merged.schedule.rows.job.tolist() == [1, 1, 0, 0]


def test_logs_that_contradict_each_other_are_refused():
    logs = [
        Log(entries=[Entry(0.0, Op.MIX, message=a, replica=0), Entry(1.0, Op.PUT, message=b)])
        for a, b in ((1, 2), (2, 1))
    ]

    with pytest.raises(ValueError, match="free of circles, got 4 entries"):
        _merge(*logs)


def test_an_empty_run_is_an_empty_schedule():
    assert len(_merge(Log(), Log()).schedule.rows) == 0


def test_a_constant_drift_is_interpolated_away():
    clock = Clock(1, 2)
    clock.readings = [Reading(100.0, 5.0, 0.1), Reading(200.0, 7.0, 0.2)]

    assert clock.aligned(100.0) == 105.0
    assert clock.aligned(150.0) == 156.0
    assert clock.error() == 0.2


def test_one_reading_gives_a_constant_offset():
    clock = Clock(1, 2)
    clock.readings = [Reading(100.0, 5.0, 0.1)]

    assert clock.aligned(170.0) == 175.0


def test_a_clock_believes_the_shortest_round_trip(monkeypatch):
    """Rank 0 is 5 s ahead; only the quickest question takes as long to go as to come."""
    legs = [(0.4, 0.2), (0.3, 0.0), (0.1, 0.1), (0.0, 0.3)] * 10
    now, under_way = [100.0], []

    def send(_question, _rank):
        there, back = legs.pop(0)
        now[0] += there
        under_way.append((now[0] + 5.0, back))

    def receive(answer, _rank):
        told, back = under_way.pop()
        answer.fill_(told)
        now[0] += back

    monkeypatch.setattr(clocks, "dist", SimpleNamespace(send=send, recv=receive))
    monkeypatch.setattr(clocks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    clock = Clock(1, 2)

    clock.compare()

    (reading,) = clock.readings
    assert reading.local == pytest.approx(101.0)
    assert reading.offset == pytest.approx(5.0)
    assert reading.error == pytest.approx(0.1)
