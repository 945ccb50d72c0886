"""Traces: what is in the file is what comes out, and what is wrong is told with its place."""

import gzip
import io
import json
import math
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from elastic_consistency.cli import main
from elastic_consistency.simulator import delays
from elastic_consistency.studies.files import load_study
from elastic_consistency.studies.traces import TraceError, read_trace
from elastic_consistency.studies.traces.event_stream import events
from elastic_consistency.studies.traces.fitted_study import fitted_study, law_text
from elastic_consistency.studies.traces.fitting import distance_to, fit_laws, law_of
from elastic_consistency.studies.traces.operations import (
    ideal_step_seconds,
    read_operations,
    step_seconds,
)
from elastic_consistency.studies.traces.rtt import place_server, read_rtt
from elastic_consistency.studies.traces.table_columns import Columns

PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "traces"
public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public traces are not here")


def _kineto(rank: int = 0) -> dict:
    """One step of 100 us: compute 10-50, NCCL 40-80 (30 of them alone), and noise."""
    span = {"ph": "X", "pid": 1, "tid": 1}
    return {
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "traceEvents": [
            span | {"name": "ProfilerStep#3", "cat": "user_annotation", "ts": 1000.0, "dur": 100.0},
            span | {"name": "gemm", "cat": "kernel", "ts": 1010.0, "dur": 40.0},
            span | {"name": "ncclDevKernel_AllReduce", "cat": "kernel", "ts": 1040.0, "dur": 40.0},
            span | {"name": "aten::add", "cat": "cpu_op", "ts": 1000.0, "dur": 1.0},
            {"ph": "M", "name": "process_name"},
        ],
    }


def _write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_step_of_a_profiler_trace_leaves_out_what_it_waited(tmp_path):
    times = read_trace([_write(tmp_path / "a.json", _kineto())])

    assert times.seconds[0] == pytest.approx([70e-6])
    assert times.waits[0] == pytest.approx([30e-6])
    assert (times.tally.read, times.tally.kept) == (5, 3)
    assert dict(times.tally.skipped) == {"neither step nor kernel": 1, "without a duration": 1}


def test_a_file_a_rank_gives_a_worker_a_rank(tmp_path):
    files = [_write(tmp_path / f"{r}.json", _kineto(r)) for r in (1, 0)]

    assert read_trace(files).workers == ("0", "1")


def test_a_compressed_trace_says_the_same(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(_kineto()).encode()))

    assert read_trace([path]).seconds[0] == pytest.approx([70e-6])


def test_a_long_trace_is_read_piece_by_piece(tmp_path):
    """Three million characters are read in pieces; no object is lost at their borders."""
    many = [{"name": f"event {k} é", "pad": "x" * 100} for k in range(20_000)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"other": [1, 2], "traceEvents": many, "after": {}}))

    assert list(events(path, "traceEvents")) == many


@pytest.fixture
def refusal(capsys):
    """refusal(path): the one line that `elastic calibrate` says, with exit code 2."""

    def refused(path):
        code = main(["calibrate", str(path)])
        said = capsys.readouterr()
        assert (code, said.out, said.err.count("\n")) == (2, "", 1)
        assert said.err.startswith(f"elastic: {path}")
        return said.err

    return refused


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"traceEvents": [{"ph": "X"}, {"ph": ', "is not JSON at character"),
        ('{"traceEvents": [{"ph": "X"},', "ends in the middle, at character 29"),
        ('{"traceEvents": [{"ph": oops}]}', "is not JSON at character 24"),
        ('{"other": []}', "holds no array 'traceEvents'"),
        ('{"traceEvents": []}', "holds no step time: read 0 records"),
        ('{"traceEvents": [{"ph": "M"}]}', "read 1 records, skipped 1 without a duration"),
        ('{"traceEvents": [{"ph": "M"}]}', "torch.profiler writes them with a schedule"),
        ("", "holds no array"),
    ],
)
def test_a_damaged_profiler_trace_is_told_with_its_place(refusal, tmp_path, content, told):
    assert told in refusal(_write(tmp_path / "a.json", content))


def test_a_truncated_archive_is_told(refusal, tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(_kineto()).encode())[:-20])

    assert "compressed file is damaged" in refusal(path)


CHAKRA = {
    "workload_graph": [
        {"Id": 1, "Name": "gemm", "NodeType": 4, "runtime": 300, "is_cpu_op": False},
        {"Id": 2, "Name": "all_reduce", "NodeType": 7, "runtime": 50, "is_cpu_op": False},
        {"Id": 3, "Name": "aten::add", "NodeType": 4, "runtime": 9, "is_cpu_op": True},
        {"Id": 4, "Name": "meta", "NodeType": 4},
    ]
}


def test_a_chakra_trace_adds_up_the_device(tmp_path):
    times = read_trace([_write(tmp_path / "rank0.json", CHAKRA)])

    assert (times.seconds[0].tolist(), times.waits[0].tolist()) == (
        pytest.approx([300e-6]),
        pytest.approx([50e-6]),
    )
    assert (times.tally.read, times.tally.kept) == (4, 2)


def test_an_archive_of_chakra_traces_has_a_worker_a_file(tmp_path):
    path = tmp_path / "all.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("r.0.json", "r.1.json"):
            member = tarfile.TarInfo(name)
            content = json.dumps(CHAKRA).encode()
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))

    assert read_trace([path]).workers == ("r.0", "r.1")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"workload_graph": 3}', "holds no array 'workload_graph'"),
        ('{"workload_graph": [}', "is not JSON at character 20"),
        ('{"workload_graph": [{"runtime": 1},', "ends in the middle, at character 35"),
    ],
)
def test_a_damaged_chakra_trace_is_told(refusal, tmp_path, content, told):
    assert told in refusal(_write(tmp_path / "a.json", content))


def test_a_table_keeps_what_it_can_and_counts_the_rest(tmp_path):
    text = "rank,duration_ms\n1,20\n0,10\n0,30\n0,-1\n0,nan\n0,soon\n1\n"

    times = read_trace([_write(tmp_path / "a.csv", text)])

    assert times.workers == ("0", "1")
    assert times.seconds[0] == pytest.approx([0.01, 0.03])
    assert (times.tally.read, times.tally.kept) == (7, 3)
    assert sum(times.tally.skipped.values()) == 4


def test_a_parquet_table_says_the_same_as_csv(tmp_path):
    parquet.write_table(
        pa.table({"rank": [1, 0], "duration_ms": [20.0, 10.0]}), tmp_path / "a.parquet"
    )

    times = read_trace([tmp_path / "a.parquet"])

    assert [seconds.tolist() for seconds in times.seconds] == [[0.01], [0.02]]


@pytest.mark.parametrize(
    ("content", "columns", "told"),
    [
        ("a,b\n1,2\n", None, "no worker column: name one of a, b"),
        ("worker,length\n0,2\n", None, "no duration column"),
        ("worker,length\n0,2\n", Columns(time="length"), "the unit of column 'length' is unknown"),
        ("worker,length\n0,2\n", Columns(time="lenght"), "did you mean 'length'"),
        ("worker,time_s\n0,2\n", Columns(seconds_per_unit=-1.0), "must be a number > 0, got -1.0"),
        ("worker,time_s\n0,x\n", None, "holds no step time: read 1 records, skipped 1"),
        ("", None, "is empty; a table begins with the names of its columns"),
    ],
)
def test_a_table_that_cannot_be_read_is_told(tmp_path, content, columns, told):
    with pytest.raises(TraceError, match=told):
        read_trace([_write(tmp_path / "a.csv", content)], columns)


def test_other_files_are_refused(refusal, tmp_path):
    assert "must be a Kineto trace" in refusal(_write(tmp_path / "a.txt", "1"))
    assert "is not parquet" in refusal(_write(tmp_path / "a.parquet", "1"))
    assert "no such file" in refusal(tmp_path / "none.csv")


def test_a_matrix_of_round_trip_times(tmp_path):
    path = _write(tmp_path / "rtt", "0\t0.2\n0.3\t0\n")

    assert read_rtt(path).tolist() == [[0.0, 0.2], [0.3, 0.0]]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("0 1\n1 0 2\n", r"got 2 rows of \[2, 3\] columns"),
        ("0 x\n1 0\n", "line 1, column 2 must be a number of seconds from 0 to 60, got 'x'"),
        ("0 1\n-1 0\n", "line 2, column 1"),
        ("", "got 0 rows of no columns"),
    ],
)
def test_a_bad_matrix_is_told_with_its_place(tmp_path, content, told):
    with pytest.raises(TraceError, match=told):
        read_rtt(_write(tmp_path / "rtt", content))


def test_the_server_goes_where_the_others_are_near():
    """Node 1 is 2 and 4 s from the others, which are 10 s apart: ways of 1, 2 and 5 s."""
    matrix = np.array([[0.0, 2.0, 10.0], [2.0, 7.0, 4.0], [10.0, 4.0, 0.0]])

    placed = place_server(matrix)

    assert (placed.server, placed.latencies_s, placed.between_s) == (1, (1.0, 2.0), 5.0)


LAWS = [
    delays.Exponential(0.2),
    delays.ShiftedExponential(0.1, 0.05),
    delays.LogNormal(0.3, 0.4),
    delays.Gamma(3.0, 0.1),
    delays.Pareto(0.1, 2.5),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_law_is_recognised_from_its_own_quantiles(law):
    """A sample that is the law itself, evenly: the nearest law is of its kind."""
    sample = law.quantile((np.arange(4000) + 0.5) / 4000)

    best = fit_laws(sample)[0]

    assert type(best.law) is type(law)
    assert best.distance < 0.01
    assert best.law.mean() == pytest.approx(law.mean(), rel=0.05)


def test_the_distance_is_that_of_kolmogorov_and_smirnov():
    """One value at the median of a law is half away from it."""
    law = delays.Exponential(1.0)

    assert distance_to(law, np.array([math.log(2)])) == pytest.approx(0.5, abs=1e-4)
    assert distance_to(law, np.array([0.0, 1e9])) == pytest.approx(0.5, abs=1e-4)


def test_what_does_not_vary_is_constant():
    assert fit_laws(np.array([0.2, 0.2]))[0].law == delays.Constant(0.2)
    assert law_of(np.array([0.3])) == delays.Constant(0.3)


def test_data_can_stand_for_themselves():
    assert law_of(np.array([0.3, 0.1]), empirical=True) == delays.Empirical((0.1, 0.3))


@pytest.mark.parametrize("empirical", [False, True])
def test_a_fitted_study_can_be_loaded(tmp_path, empirical):
    text = "worker,duration_s\n" + "\n".join(f"{k % 2},{0.1 + 0.01 * k}" for k in range(20))
    times = read_trace([_write(tmp_path / "a.csv", text)])
    laws = tuple(law_of(seconds, empirical=empirical) for seconds in times.seconds)

    study_file = _write(
        tmp_path / "fitted.toml",
        fitted_study(
            times,
            laws,
            latencies_s=(0.001,),
            between_s=0.002,
            bandwidth_bytes_per_s=1e9,
            bytes_sent=4.0,
            workers=5,
        ),
    )

    cluster = load_study(study_file).cluster
    assert [worker.compute for worker in cluster.workers] == [laws[0]] * 3 + [laws[1]] * 2
    assert cluster.workers[0].uplink.latency_s == 0.001
    assert (cluster.fabric.latency_s, cluster.fabric.bandwidth_bytes_per_s) == (0.002, 1e9)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_law_survives_the_way_through_a_file(law):
    import tomllib

    from elastic_consistency.simulator.delays import AbstractDelayLaw
    from elastic_consistency.studies.files.building import build

    table = tomllib.loads(f"law = {law_text(law)}")

    assert build(AbstractDelayLaw, table["law"], "law") == law


@public
@pytest.mark.parametrize(
    ("file", "workers", "low", "high"),
    [
        ("kineto/nccl_parser_config__nccl_data.json.gz", 1, 0.1, 0.3),
        ("kineto/timeline_analysis__sampled_rank-0.json.gz", 1, 0.3, 0.7),
        ("chakra/json_trace.tar.gz", 2, 1e-6, 1.0),
        ("bytedance/trace-ST.parquet", 8, 0.7, 1.6),
    ],
)
def test_public_traces_give_sensible_step_times(file, workers, low, high):
    times = read_trace([PUBLIC / file])

    assert len(times.seconds) == workers
    assert all(low < seconds.mean() < high for seconds in times.seconds)
    assert times.tally.read == times.tally.kept + sum(times.tally.skipped.values())


@public
@pytest.mark.parametrize(("job", "rows"), [(1, 3000), (2, 2402), (4, 21829)])
def test_public_mini_batches_keep_every_row(job, rows):
    columns = Columns(time="batch_time_norm", seconds_per_unit=1e-3)

    times = read_trace([PUBLIC / f"alibaba/job_{job}_norm.csv"], columns)

    assert (times.tally.kept, len(times.workers)) == (rows, 10)


@public
@pytest.mark.parametrize("day", [1, 101, 201])
def test_public_round_trip_times_are_square(day):
    matrix = read_rtt(PUBLIC / f"netlatency/SeattleData_{day}")

    assert matrix.shape == (99, 99)
    placed = place_server(matrix)
    assert len(placed.latencies_s) == 98
    assert np.mean(placed.latencies_s) <= matrix.mean() / 2


@public
def test_step_times_agree_with_the_published_answers():
    """The authors' measured steps to a microsecond; their step without stragglers to half a per
    cent: the closed form leaves out the launch delays that their replay keeps."""
    operations = read_operations(PUBLIC / "bytedance/trace-ST.parquet")
    published = json.loads((PUBLIC / "bytedance/result-ST.json").read_text())

    measured = step_seconds(operations)
    ideal = ideal_step_seconds(operations)

    assert measured == pytest.approx(
        {int(step): seconds for step, seconds in published["step_t_base"].items()}, abs=1e-6
    )
    assert ideal == pytest.approx(published["step_t_noblk"]["23"], rel=0.005)
    slowdown = np.mean(list(measured.values())) / ideal
    assert slowdown == pytest.approx(published["blocking_slowdown"], rel=0.03)


def test_an_ideal_step_by_hand(tmp_path):
    """Two stages, two micro-batches: 3 (1 + 2) s, a collective of 0.5 s, an optimizer of 0.25 s."""
    rows = []
    for rank in (0, 1):
        for k in range(2):
            rows.append((rank, 0, rank, 7, k, "forward-compute", 0.0, 1.0))
            rows.append((rank, 0, rank, 7, k, "backward-compute", 1.0, 2.0))
        # The second rank comes late: for it alone the collective lasts as long as it must.
        rows.append((rank, 0, rank, 7, 0, "optimizer-clip-main-grad", 3.0, 0.5 + (rank == 0)))
        rows.append((rank, 0, rank, 7, 0, "optimizer", 4.5, 0.25))
    names = ("rank", "dp_rank", "stage", "step", "seq_id", "optype", "start_ts", "duration")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    parquet.write_table(pa.table({k: list(v) for k, v in columns.items()}), tmp_path / "a.parquet")

    operations = read_operations(tmp_path / "a.parquet")

    assert ideal_step_seconds(operations) == pytest.approx(9.75)
    assert step_seconds(operations) == {7: 4.75}
    assert read_trace([tmp_path / "a.parquet"]).seconds[0].tolist() == [6.0]
