"""Compression trades bytes for work: both reach the clock of a study."""

import numpy as np
import pytest

from elastic_consistency.optimization.compression import Identity, TopK
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Link, Payload
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.studies.comparison.runs import payload_of, schedule_of
from elastic_consistency.studies.study import Contender, Study

MEGABYTES = 1e6


@pytest.fixture
def study():
    contenders = tuple(
        Contender(name, AsynchronousServer(), 4, codec=codec)
        for name, codec in (("whole", Identity()), ("sparse", TopK(10)))
    )
    return Study(
        name="bytes",
        cluster=Cluster.alike(1, Constant(1.0), link=Link(bandwidth_bytes_per_s=1 * MEGABYTES)),
        oracle=Quadratic(np.ones(100)),
        contenders=contenders,
        certificate=None,
        payload=Payload(model_bytes=2 * MEGABYTES, update_bytes=2 * MEGABYTES),
        operations_per_s=1e9,
    )


def test_without_compression_the_payload_is_the_study_s_own(study):
    assert payload_of(study, study.contenders[0]) == study.payload


def test_ten_of_a_hundred_coordinates_send_their_share_of_the_bytes(study):
    """The codec's own count at d = 100, as a ratio, times the 2 MB of the system in mind."""
    codec = study.contenders[1].codec

    payload = payload_of(study, study.contenders[1])

    assert payload.model_bytes == 2 * MEGABYTES
    assert payload.update_bytes == 2 * MEGABYTES * codec.wire_bytes(100, 4) / 400
    assert payload.update_bytes < 0.3 * MEGABYTES * 2
    assert payload.encode_s == pytest.approx(codec.encode_operations(100) / 100 * 5e5 / 1e9)


def test_bytes_and_work_reach_the_clock(study):
    """1 MB/s: the pull takes 2 s, the computation 1 s and its encoding, the push its bytes."""
    for contender in study.contenders:
        payload = payload_of(study, contender)
        rows = schedule_of(study, contender, 0).rows

        encode, add = (rows.time[rows.op == op][0] for op in (Op.ENCODE, Op.ADD))

        assert encode == pytest.approx(2 + 1 + payload.encode_s, rel=1e-12)
        assert add - encode == pytest.approx(payload.update_bytes / MEGABYTES, rel=1e-12)
