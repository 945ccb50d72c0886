"""Damaged traces: one line that says what is wrong, or a reading with counts."""

import gzip
import json

import pytest

from elastic_consistency.studies.traces import read_trace
from elastic_consistency.studies.traces.records import TraceError
from elastic_consistency.studies.traces.rtt import read_rtt

HUGE = "1" + "0" * 400
STEP = '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1",'


def _flipped() -> bytes:
    packed = bytearray(gzip.compress(bytes(range(256)) * 40, mtime=0))
    packed[40] ^= 255
    return bytes(packed)


REFUSED = {
    "damaged.json.gz": (_flipped(), "the compressed file is damaged"),
    "short.csv.gz": (
        gzip.compress(b"worker,seconds\n0,1\n", mtime=0)[:-9],
        "the compressed file is damaged",
    ),
    "wide.csv": ("worker,seconds\n0,1\n".encode("utf-16"), "must be text in UTF-8, got UTF-16"),
    "decimal.csv": (b"worker;seconds\n0;1,5\n", "skipped 1 with a duration that is no number"),
    "digits.json": (f'{{"traceEvents":[{"1" * 5000}]}}'.encode(), "no event of a trace"),
    "deep.json": (b'{"traceEvents":[{"a":' + b"[" * 100_000, "no event of a trace"),
    "huge.json": (
        f'{{"traceEvents":[{STEP}"ts":{HUGE},"dur":1}}]}}'.encode(),
        "skipped 1 without a duration",
    ),
    "nan.json": (
        f'{{"traceEvents":[{STEP}"ts":NaN,"dur":1}},{STEP}"ts":1,"dur":Infinity}}]}}'.encode(),
        "skipped 2 without a duration",
    ),
    "chakra.json": (
        b'{"workload_graph":[{"is_cpu_op":false,"runtime":NaN},{"is_cpu_op":false,"runtime":-5}]}',
        "skipped 2 with a runtime that is not >= 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_reason(tmp_path, name):
    content, told = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(TraceError, match=told) as refused:
        read_trace([path])

    assert str(refused.value).startswith(f"{path}: ")


READ = {
    "mark.csv": (b"\xef\xbb\xbfworker,seconds\n0,1\n1,2\n", {}),
    "semicolons.csv": (b"worker;seconds\n0;1\n1;2\n", {}),
    "tabs.csv": (b"worker\tseconds\n0\t1\n1\t2\n", {}),
    "huge.csv": (
        b"worker,seconds\n0,1\n0,1e308\n1,2\n",
        {"with a duration above 1e+09 s": 1},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_and_counted(tmp_path, name):
    content, skipped = READ[name]
    path = tmp_path / name
    path.write_bytes(content)

    times = read_trace([path])

    assert [seconds.tolist() for seconds in times.seconds] == [[1.0], [2.0]]
    assert dict(times.tally.skipped) == skipped


def test_json_with_a_byte_order_mark_is_json(tmp_path):
    path = tmp_path / "mark.json"
    step = json.loads(STEP + '"ts":0,"dur":2000000}')
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"traceEvents": [step]}).encode())

    assert read_trace([path]).seconds[0].tolist() == [2.0]


def test_one_node_has_no_round_trips(tmp_path):
    path = tmp_path / "rtt.txt"
    path.write_text("0\n")

    with pytest.raises(TraceError, match="for two nodes or more, got 1 rows"):
        read_rtt(path)
