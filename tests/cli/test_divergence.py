"""A study that diverges fails, says where, and keeps what was measured until then."""

import json
import math
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from pyarrow import parquet

from elastic_consistency.cli import main

STUDY = """
format = 1
name = "wild"
[problem]
kind = "quadratic"
spectrum = [1.0, 0.5]
noise_variance = 0.001
start = [1.0, 1.0]
[links.none]
latency_s = 0.0
jitter = { kind = "constant", seconds = 0.0 }
bandwidth_bytes_per_s = inf
[cluster]
fabric = "none"
[[cluster.workers]]
count = 3
compute = { kind = "exponential", scale_s = 0.1 }
link = "none"
[[contenders]]
name = "asynchronous"
protocol = "asynchronous_server"
gradients = 4000
[comparison]
target_share = 0.5
step_sizes_times_smoothness = [3.5] # beyond 2 / L, where gradient descent diverges
[seeds]
timing = { first = 0, count = 2 }
tuning = { first = 9, count = 1 }
replicates = 2
"""
STEADY = """
[[contenders]]
name = "synchronous"
protocol = "all_reduce"
gradients = 4000
"""
AXIS = '[[sweep]]\nfield = "cluster.workers[0].count"\nvalues = [2, 3]\n'


@pytest.fixture(scope="module")
def wild(tmp_path_factory) -> tuple[int, str, Path]:
    """Exit code, stderr and folder of the run of a study that diverges."""
    folder, err = tmp_path_factory.mktemp("wild"), StringIO()
    path = folder / "wild.toml"
    path.write_text(STUDY)
    with redirect_stdout(StringIO()), redirect_stderr(err):
        code = main(["run", str(path), "--output", str(folder / "out")])
    return code, err.getvalue(), folder / "out"


def test_it_fails_and_names_contender_job_worker_and_step(wild):
    code, err, out = wild

    (row, _) = parquet.read_table(out / "data/divergences.parquet").to_pylist()
    (told,) = (line for line in err.splitlines() if "diverged" in line)
    assert code == 1
    assert told.startswith("elastic: asynchronous diverged on 2 of 2 schedules")
    assert f"step {row['step']} (last update: job {row['job']} of worker {row['worker']})" in told


def test_what_was_measured_until_then_is_kept_and_flagged(wild):
    _, _, out = wild

    table = parquet.read_table(out / "data/losses_until_divergence.parquet").to_pydict()
    assert set(table["diverged"]) == {True}
    assert set(zip(table["timing_seed"], table["replicate"], strict=True)) == {
        (seed, replicate) for seed in (0, 1) for replicate in (0, 1)
    }
    # f(1, 1) = (1 + .5) / 2 at the start, and beyond any bound in the end.
    assert table["time_s"][0] == 0.0
    assert table["loss"][0] == pytest.approx(0.75)
    assert max(loss for loss in table["loss"] if math.isfinite(loss)) > 1e100
    (contender,) = parquet.read_table(out / "data/contenders.parquet").to_pylist()
    assert contender["diverged_schedules"] == 2
    assert (out / "report.html").exists()
    assert (out / "asynchronous-0.parquet").exists()


def test_the_result_can_be_read_again(elastic, wild, tmp_path):
    told = elastic("report", wild[2], "--output", tmp_path / "again.html")

    assert (told.code, told.err) == (0, "")
    assert "diverged on 2 schedules" in (tmp_path / "again.html").read_text()


def test_the_judged_run_keeps_its_gaps(elastic, tmp_path):
    certificate = "[certificate]\ngradients = 1000\nreplicates = 2\nerror_rate = 0.01\n"
    text = STUDY.replace("[3.5]", "[1e3]").replace("gradients = 4000", "gradients = 1000")
    path = tmp_path / "wild.toml"
    path.write_text(text + certificate)

    answer = elastic("run", path, "--output", tmp_path / "out", "--json")

    told = json.loads(answer.out, parse_constant=pytest.fail)
    assert answer.code == 1
    assert "the judged run of asynchronous diverged: Replica 0 is not finite" in answer.err
    assert told["certification"]["verdicts"] == []
    gaps = parquet.read_table(tmp_path / "out/data/gaps.parquet").to_pydict()
    assert set(gaps["diverged"]) == {True}
    assert set(gaps["sequence"]) == {"started", "applied"}


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_advice_about_what_diverges_fails(elastic, tmp_path, more):
    path = tmp_path / "wild.toml"
    path.write_text(STUDY + STEADY)

    answer = elastic("advise", path, "--own", "--output", tmp_path / "out", *more)

    assert answer.code == 1
    assert "elastic: asynchronous diverged on 2 of 2 schedules" in answer.err
    told = json.loads((tmp_path / "out/advice.json").read_text())
    assert told["results"][0]["time_s"] is None


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_sweep_with_a_point_that_diverges_fails(elastic, tmp_path, more):
    path = tmp_path / "wild.toml"
    path.write_text(STUDY + AXIS)

    answer = elastic("run", path, "--output", tmp_path / "out", *more)

    assert answer.code == 1
    assert answer.err.count("elastic: asynchronous diverged on 2 of 2 schedules") == 2
    assert (tmp_path / "out/points.jsonl").read_text().count("\n") == 2
