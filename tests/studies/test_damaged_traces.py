"""Damaged traces: one line that says what is wrong, or a reading with counts."""

import gzip
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

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
    "again.csv": (b"worker,seconds,seconds\n0,1,2\n", "must be unique, got 'seconds' at 2 and 3"),
    "either.csv": (b"worker,step_ms,duration_ms\n0,1,2\n", "could be the duration: name one of"),
    "machines.csv": (b"host,device,step_ms\n0,1,2\n", "could be the worker: name one of host"),
    "rate.csv": (b"worker,iter/s\n0,1\n", "no duration column"),
    "kernels.csv": (b"Duration (ns),CorrId,Device\n5,1,0\n", "a table of single kernels"),
    "clock.csv": (
        b"worker,time_s\n" + b"".join(b"0,%d\n" % k for k in range(1, 12)),
        "must hold durations, got values that only grow",
    ),
    "quote.csv": (b'worker,seconds\n0,"1\n0,2\n', "is not CSV at line 3"),
    "field.csv": (b"worker,seconds," + b"x" * 200_000, "is not CSV at line 1: field larger"),
    "nul.csv": (b"w\0o\0r\0", "got a zero byte in its heading"),
    "stump.tar.gz": (gzip.compress(b"text" * 99, mtime=0)[:-12], "the compressed file is damaged"),
    "none.tar.gz": (b"text", "must be a tar archive of Chakra traces"),
    "torch.json": (b'{"schema": "1.1.1", "nodes": [{"id": 1}]}', "which holds no durations"),
    "lists.json": (
        b'{"traceEvents":[{"ph":"X","cat":[],"name":{},"ts":1,"dur":1}]}',
        "skipped 1 neither step nor kernel",
    ),
    "nothing.json": (
        f'{{"traceEvents":[{STEP}"ts":1,"dur":0}}]}}'.encode(),
        "skipped 1 step of length 0",
    ),
    "waiting.json": (
        f'{{"traceEvents":[{STEP}"ts":1,"dur":9}},'
        f'{{"ph":"X","cat":"kernel","name":"ncclKernel","ts":1,"dur":9}}]}}'.encode(),
        "skipped 1 step that only waited",
    ),
    "two.json": (
        f'{{"traceEvents":[{STEP}"ts":1,"dur":9,"pid":1}},'
        f'{STEP}"ts":1,"dur":9,"pid":2}}]}}'.encode(),
        "must hold the steps of one process, got those of 1, 2",
    ),
    "text.et": (b"hello, this is text", "the message at byte 0 is none"),
    "layers.txt": (
        b"node1 -- Input -- forward_compute_time=1, backward_compute_time=0\n",
        "skipped 1 of the loading of data",
    ),
    "digits.json": (f'{{"traceEvents":[{"1" * 5000}]}}'.encode(), "no event of a trace"),
    "deep.json": (b'{"traceEvents":[{"a":' + b"[" * 100_000, "no event of a trace"),
    "huge.json": (
        f'{{"traceEvents":[{STEP}"ts":{HUGE},"dur":1}}]}}'.encode(),
        "skipped 1 with a time or a duration that is no number >= 0",
    ),
    "nan.json": (
        f'{{"traceEvents":[{STEP}"ts":NaN,"dur":1}},{STEP}"ts":1,"dur":Infinity}}]}}'.encode(),
        "skipped 2 with a time or a duration that is no number >= 0",
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
    "commas.csv": (b"worker;duration_ms\n0;1000,0\n1;2000,0\n", {}),
    "bars.csv": (b"worker|seconds\n0|1\n1|2\n", {}),
    "tabs.tsv": (b"worker\tseconds\r\n0\t1\r\n1\t2\r\n", {}),
    "UPPER.CSV": (b'"Rank", "Step time [us]"\n0,1e6\n1,2e6\n', {}),
    "brackets.csv": (b"Node,Duration (ms)\n0,1000\n1,2000\n", {}),
    "nano.csv": (b"# made by hand\n\nhost,iteration_time_ns\n0,1e9\n1,2e9\n", {}),
    "nobody.csv": (b"worker,seconds\n0,1\n,5\n\0,5\n1,2\n", {"without the name of a worker": 2}),
    "python.csv": (
        b"worker,seconds\n0,1\n1,1_000\n1,2\n1\n",
        {"with a duration that is no number": 1, "without a duration": 1},
    ),
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


COLUMNS = {
    "bool": (pa.array([True]), "column 'duration_ms' must hold numbers, got bool"),
    "time of day": (pa.array([1], pa.time64("us")), "must hold numbers, got time64"),
    "moment": (pa.array([1], pa.timestamp("us")), "must hold numbers, got timestamp"),
    "nested": (pa.array([{"a": 1}]), "must hold numbers, got struct"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_another_type_is_refused(tmp_path, name):
    values, told = COLUMNS[name]
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"worker": [0], "duration_ms": values}), path)

    with pytest.raises(TraceError, match=told):
        read_trace([path])


NUMBERS = {
    "whole": pa.array([1000], pa.int16()),
    "decimal": pa.array([Decimal(1000)], pa.decimal128(10, 2)),
    "text": pa.array(["1000"]).dictionary_encode(),
    "duration": pa.array([1_000_000_000], pa.duration("ns")),  # its own unit counts
}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_type_of_number_is_read(tmp_path, name):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"worker": [3.0], "duration_ms": NUMBERS[name]}), path)

    times = read_trace([path])

    assert (times.workers, times.seconds[0].tolist()) == (("3",), [1.0])


@pytest.mark.parametrize(
    ("column", "values"), [("rank", ["a"]), ("duration", ["x"]), ("optype", [3]), ("stage", [0.5])]
)
def test_a_column_of_operations_of_another_type_is_refused(tmp_path, column, values):
    whole = {name: [0] for name in ("rank", "dp_rank", "stage", "step", "seq_id")}
    sound = {**whole, "optype": ["forward-compute"], "start_ts": [0.0], "duration": [1.0]}
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({**sound, column: values}), path)

    with pytest.raises(TraceError, match=f"column '{column}' must hold"):
        read_trace([path])


def test_a_trace_that_is_cut_anywhere_is_refused(tmp_path):
    """Events, text, gzip and protocol buffers: no stump is a trace, and none is a crash."""
    step = json.loads(STEP + '"ts":0,"dur":2000000}')
    text = json.dumps({"traceEvents": [step, step]}).encode()
    wholes = {"a.json": text[:-1], "a.json.gz": gzip.compress(text, mtime=0)}

    for name, whole in wholes.items():
        for end in range(0, len(whole) - 1, 7):
            (tmp_path / name).write_bytes(whole[:end])
            with pytest.raises(TraceError):
                read_trace([tmp_path / name])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 80\n80 0\n", "got '80'; divide milliseconds by 1000"),
        ("a b\n0 1\n", "got 'a'; leave out the names of nodes"),
        ("0 nan\n1 0\n", "line 1, column 2 must be a number of seconds from 0 to 60, got 'nan'"),
        ("0,1,\n1,0,\n", "line 1, column 3 .* got 'nothing'"),
    ],
)
def test_what_is_no_round_trip_is_told_with_its_place(tmp_path, text, told):
    path = tmp_path / "rtt.txt"
    path.write_text(text)

    with pytest.raises(TraceError, match=told):
        read_rtt(path)


def test_the_diagonal_of_round_trips_does_not_count(tmp_path):
    path = tmp_path / "rtt.txt"
    path.write_text("# ping\nnan;0.5\n0.5;-\n")

    assert read_rtt(path).tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_one_node_has_no_round_trips(tmp_path):
    path = tmp_path / "rtt.txt"
    path.write_text("0\n")

    with pytest.raises(TraceError, match="for two nodes or more, got 1 rows"):
        read_rtt(path)
