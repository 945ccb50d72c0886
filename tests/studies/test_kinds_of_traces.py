"""Traces as other programs write them: what was put in comes out, in seconds, by worker."""

import json
from array import array

import numpy as np
import pytest

from elastic_consistency.studies.traces import TraceError, read_trace
from elastic_consistency.studies.traces.intervals import covered, union


def _span(name, category, begin, length, **more):
    return {"ph": "X", "name": name, "cat": category, "ts": begin, "dur": length, **more}


def _file(folder, name, events, *, rank=None):
    path = folder / name
    head = {} if rank is None else {"distributedInfo": {"backend": "gloo", "rank": rank}}
    path.write_text(json.dumps(head | {"traceEvents": events}))
    return path


def test_a_rank_that_waits_for_gloo_is_not_slow(tmp_path):
    """100 us: the CPU works until 40 and from 70 to 80, a collective runs from 30 to 90."""
    events = [
        _span("ProfilerStep#2", "user_annotation", 0, 100),
        _span("aten::mm", "cpu_op", 0, 40),
        _span("aten::add", "cpu_op", 10, 5),
        _span("c10d::allreduce_", "cpu_op", 30, 60),
        _span("gloo:all_reduce", "user_annotation", 30, 60),
        _span("aten::mm", "cpu_op", 70, 10),
    ]

    times = read_trace([_file(tmp_path, "a.json", events)])

    assert times.seconds[0] == pytest.approx([60e-6])
    assert times.waits[0] == pytest.approx([40e-6])
    assert (times.tally.kept, dict(times.tally.skipped)) == (5, {"neither step nor kernel": 1})


def _windows(folder, *, steps, ranks):
    return [
        _file(folder, f"{k}.json", [_span(f"ProfilerStep#{s}", "user_annotation", 0, 1e6)], rank=r)
        for k, (s, r) in enumerate(zip(steps, ranks, strict=True))
    ]


def test_files_of_one_rank_are_windows_of_one_worker(tmp_path):
    times = read_trace(_windows(tmp_path, steps=(2, 8, 2), ranks=(1, 1, None)))

    assert (times.workers, [len(s) for s in times.seconds]) == (("0", "1"), [1, 2])


def test_files_of_one_rank_must_hold_other_steps(tmp_path):
    with pytest.raises(
        TraceError, match=r"must hold other steps than .*0\.json, which states rank"
    ):
        read_trace(_windows(tmp_path, steps=(2, 2), ranks=(1, 1)))


def test_a_file_is_given_once(tmp_path):
    (path,) = _windows(tmp_path, steps=(2,), ranks=(0,))

    with pytest.raises(TraceError, match="must be given once"):
        read_trace([path, tmp_path / "." / "0.json"])


def test_unions_are_those_of_the_points():
    """Against points on a grid: which of them lie in some interval."""
    rng = np.random.default_rng(3)
    begin = rng.integers(0, 90, 40)
    spans = np.stack([begin, begin + rng.integers(0, 6, 40)], axis=1)
    middles = np.arange(100) + 0.5
    inside = ((spans[:, :1] < middles) & (middles < spans[:, 1:])).any(axis=0)

    disjoint = union(array("d", spans.ravel().astype(float).tolist()))

    assert (disjoint[1:, 0] > disjoint[:-1, 1]).all()
    for low, high in ((0, 100), (10, 35), (50, 50), (91, 99)):
        assert covered(disjoint, low, high) == inside[low:high].sum()


def _varint(value):
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _node(kind, micros, *, cpu):
    attribute = _field(1, b"is_cpu_op") + _field(27, int(cpu))
    content = _field(2, b"x") + _field(3, kind) + _field(7, micros) + _field(10, attribute)
    return _varint(len(content)) + content


ABOUT = _field(1, b"0.0.4")
MESSAGES = [
    _varint(len(ABOUT)) + ABOUT,
    _node(4, 300, cpu=False),
    _node(7, 50, cpu=False),
    _node(4, 9, cpu=True),
]


def test_protocol_buffers_of_chakra_add_up_the_device(tmp_path):
    path = tmp_path / "rank0.et"
    path.write_bytes(b"".join(MESSAGES))

    times = read_trace([path])

    assert times.workers == ("rank0",)
    assert times.seconds[0] == pytest.approx([300e-6])
    assert times.waits[0] == pytest.approx([50e-6])
    assert (times.tally.read, times.tally.kept) == (3, 2)


def test_a_cut_message_is_told_with_its_byte(tmp_path):
    whole = b"".join(MESSAGES)
    path = tmp_path / "a.et"
    for end in range(len(whole) - len(MESSAGES[-1]) + 1, len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(TraceError, match=f"byte {len(whole) - len(MESSAGES[-1])} is none"):
            read_trace([path])


def test_the_json_of_those_messages_says_the_same(tmp_path):
    def node(kind, micros, *, cpu):
        attributes = [{"name": "is_cpu_op", "boolVal": cpu}]
        return {"ctrlDeps": [], "type": kind, "durationMicros": str(micros), "attr": attributes}

    nodes = [
        {"version": "0.0.4"},
        node("COMP_NODE", 300, cpu=False),
        node("COMM_COLL_NODE", 50, cpu=False),
        node("COMP_NODE", 9, cpu=True),
    ]
    path = tmp_path / "rank0.json"
    path.write_text("\n".join(json.dumps(entry, indent=1) for entry in nodes))

    times = read_trace([path])

    assert times.seconds[0] == pytest.approx([300e-6])
    assert times.waits[0] == pytest.approx([50e-6])


def test_layers_of_a_pipedream_profile_add_up(tmp_path):
    """(1.5 + 2) + (0.25 + 0.75) ms; loading of data and links between layers do not count."""
    path = tmp_path / "graph.txt"
    path.write_text(
        "node1 -- Input -- forward_compute_time=635.9, backward_compute_time=0.0, size=1\n"
        "node2 -- Conv2d(3, 64) -- forward_compute_time=1.5, backward_compute_time=2.0\n"
        "node3 -- ReLU() -- forward_compute_time=0.25, backward_compute_time=0.75\n"
        "\tnode1 -- node2\n"
    )

    times = read_trace([path])

    assert times.seconds[0] == pytest.approx([0.0045])
    assert (times.tally.read, times.tally.kept) == (4, 2)


def test_workers_stand_in_natural_order(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("worker,seconds\nrank10,1\nrank2,1\n9,1\nrank1,1\n")

    assert read_trace([path]).workers == ("9", "rank1", "rank2", "rank10")
