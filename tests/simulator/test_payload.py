"""Encoding is work of the worker: it slows down, and stops, with it."""

import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Payload, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Preemption, TransientStraggler
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer

SERVER = AsynchronousServer()


def first_encode(worker, encode_s, protocol=SERVER):
    schedule = simulate(
        protocol,
        Cluster((worker,)),
        until=Until(jobs=1),
        seed=3,
        payload=Payload(encode_s=encode_s),
    )
    return float(schedule.rows.time[schedule.rows.op == Op.ENCODE][0])


@pytest.mark.parametrize("protocol", [SERVER, AllReduce()])
@pytest.mark.parametrize(
    "law",
    [
        Constant(1.0),
        TransientStraggler(Constant(1.0), normal=Constant(1e6), slow=Constant(1.0), factor=9.0),
        Preemption(Constant(1.0), running=Constant(1e6), suspended=Constant(1.0)),
    ],
)
def test_a_slow_worker_encodes_slowly(law, protocol):
    """(1 + .5) s of work at half the speed, long before anything slow or suspended begins."""
    assert first_encode(Worker(law, slowdown=2.0), 0.5, protocol) == 3.0


def test_encoding_is_part_of_the_work_that_a_slow_phase_stretches():
    """1.5 s of work take as long as a computation of 1.5 s that encodes in no time."""
    laws = [
        TransientStraggler(Constant(work), normal=Constant(0.7), slow=Constant(9.0), factor=3.0)
        for work in (1.0, 1.5)
    ]

    assert first_encode(Worker(laws[0]), 0.5) == first_encode(Worker(laws[1]), 0.0)
    assert first_encode(Worker(laws[0]), 0.5) > 1.5


def test_a_negative_cost_is_refused():
    with pytest.raises(ValueError, match=r"Payload.encode_s must be .* got -1"):
        Payload(encode_s=-1)
