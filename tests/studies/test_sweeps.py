"""Sweeps: every combination once, nothing finished is lost or repeated."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

from elastic_consistency.studies.files import StudyFileError
from elastic_consistency.studies.files.errors import FieldError
from elastic_consistency.studies.sweeps import run_sweep as module
from elastic_consistency.studies.sweeps.points import points_of
from elastic_consistency.studies.sweeps.run_sweep import run_sweep
from elastic_consistency.studies.sweeps.store import PointStore, StoreInUseError

STUDY = """
format = 1
name = "sweep"
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
count = 1
compute = { kind = "exponential", scale_s = 0.1 }
slowdown = 1.0
link = "none"
[[cluster.workers]]
count = 2
compute = { kind = "exponential", scale_s = 0.1 }
link = "none"
[[contenders]]
name = "asynchronous"
protocol = "asynchronous_server"
gradients = 60
[[contenders]]
name = "synchronous"
protocol = "all_reduce"
gradients = 60
[comparison]
target_share = 0.5
step_sizes_times_smoothness = [0.25]
[seeds]
timing = { first = 0, count = 2 }
tuning = { first = 9, count = 1 }
replicates = 2
[[sweep]]
field = "cluster.workers[0].slowdown"
values = [1.0, 4.0]
[[sweep]]
field = "contenders[1].gradients"
values = [30, 60, 90]
"""


@pytest.fixture
def content() -> dict:
    return tomllib.loads(STUDY)


@pytest.fixture
def counted(monkeypatch) -> list:
    """Points that were really run."""
    ran: list = []
    original = module.run_point

    def run_point(study, *rest):
        ran.append(study)
        return original(study, *rest)

    monkeypatch.setattr(module, "run_point", run_point)
    return ran


def test_points_are_every_combination_the_last_axis_fastest(content):
    points = points_of(content)

    assert [tuple(point.where.values()) for point in points] == [
        (1.0, 30), (1.0, 60), (1.0, 90), (4.0, 30), (4.0, 60), (4.0, 90),
    ]  # fmt: skip
    assert points[4].content["cluster"]["workers"][0]["slowdown"] == 4.0
    assert len({point.key for point in points}) == 6
    assert "sweep" not in points[0].content


def test_the_key_is_that_of_the_content(content):
    again = points_of(json.loads(json.dumps(content)))

    assert [point.key for point in again] == [point.key for point in points_of(content)]


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("cluster.workers[0].slowdwn", "did you mean 'slowdown'"),
        ("cluster.workers[7].slowdown", "must name a field that the file gives"),
        ("cluster.wrkers[0].slowdown", "did you mean 'workers'"),
        ("name.first", "must name a field that the file gives"),
        ("", "must name a field that the file gives"),
    ],
)
def test_an_axis_of_no_field_is_refused(content, field, told):
    content["sweep"][0]["field"] = field

    with pytest.raises(FieldError, match=told):
        points_of(content)


def test_a_bad_value_is_found_before_anything_runs(content, tmp_path, counted):
    content["sweep"][1]["values"] = [30, -1]

    with pytest.raises(StudyFileError, match=r"contenders\[1\]\.gradients must be greater"):
        run_sweep(content, tmp_path / "s.toml", tmp_path / "points.jsonl")

    assert counted == []


def test_an_interrupted_sweep_goes_on_where_it_stopped(content, tmp_path, counted, monkeypatch):
    whole = run_sweep(content, tmp_path / "s.toml", tmp_path / "whole.jsonl")
    counted.clear()
    add = PointStore.add

    def add_two(store, key, record):
        if len(store.finished) == 2:
            raise KeyboardInterrupt
        add(store, key, record)

    monkeypatch.setattr(PointStore, "add", add_two)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(content, tmp_path / "s.toml", tmp_path / "points.jsonl")
    monkeypatch.setattr(PointStore, "add", add)
    counted.clear()

    resumed = run_sweep(content, tmp_path / "s.toml", tmp_path / "points.jsonl")

    assert (resumed.resumed, len(counted)) == (2, 4)
    assert resumed.rows == whole.rows


def test_a_line_that_was_cut_off_is_run_again(content, tmp_path, counted):
    path = tmp_path / "points.jsonl"
    whole = run_sweep(content, tmp_path / "s.toml", path)
    text = path.read_bytes()
    path.write_bytes(text[:-40])
    counted.clear()

    resumed = run_sweep(content, tmp_path / "s.toml", path)

    assert (resumed.resumed, len(counted)) == (5, 1)
    assert resumed.rows == whole.rows
    assert path.read_bytes() == text


def test_a_full_disk_leaves_only_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "points.jsonl"
    store = PointStore(path)
    store.add("a", {"x": 1})

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.add("b", {"x": 2})

    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["a"]


def test_points_can_run_elsewhere(content, tmp_path):
    here = run_sweep(content, tmp_path / "s.toml", tmp_path / "here.jsonl")
    with ThreadPoolExecutor(2) as pool:
        there = run_sweep(content, tmp_path / "s.toml", tmp_path / "there.jsonl", executor=pool)

    assert here.rows == there.rows


def test_a_changed_study_is_run_again(content, tmp_path, counted):
    run_sweep(content, tmp_path / "s.toml", tmp_path / "points.jsonl")
    content["seeds"]["replicates"] = 3
    counted.clear()

    assert run_sweep(content, tmp_path / "s.toml", tmp_path / "points.jsonl").resumed == 0
    assert len(counted) == 6


def test_one_process_writes_at_a_time(content, tmp_path, counted):
    path = tmp_path / "points.jsonl"
    with (
        PointStore(path).alone(),
        pytest.raises(StoreInUseError, match=r"points\.jsonl must be written by one process"),
    ):
        run_sweep(content, tmp_path / "s.toml", path)
    assert counted == []

    assert len(run_sweep(content, tmp_path / "s.toml", path).rows) == 6


def test_lines_that_are_no_points_stay(tmp_path, content, counted):
    """Neither does a damaged line cost the points after it, nor are strange lines removed."""
    path = tmp_path / "points.jsonl"
    run_sweep(content, tmp_path / "s.toml", path)
    lines = path.read_bytes().splitlines(keepends=True)
    strange = [b"no JSON\n", b'{"key": 3, "record": {}}\n', b'{"key": "a", "record": 1}\n', b"[]\n"]
    path.write_bytes(b"".join([lines[0], *strange, *lines[2:]]))
    counted.clear()

    resumed = run_sweep(content, tmp_path / "s.toml", path)

    assert (resumed.resumed, resumed.foreign, len(counted)) == (5, 0, 1)
    assert all(line in path.read_bytes() for line in strange)


def test_a_point_depends_on_the_code_of_modules(tmp_path, content, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    module = tmp_path / "own_parts_of_a_sweep.py"
    module.write_text("x = 1\n")
    before = points_of(content, ("own_parts_of_a_sweep",))

    module.write_text("x = 2\n")
    after = points_of(content, ("own_parts_of_a_sweep",))

    keys = [{point.key for point in points} for points in (points_of(content), before, after)]
    assert len(set.union(*keys)) == 18


def test_points_of_another_study_are_left_alone(content, tmp_path):
    path = tmp_path / "points.jsonl"
    run_sweep(content, tmp_path / "s.toml", path)
    content["seeds"]["replicates"] = 3

    assert run_sweep(content, tmp_path / "s.toml", path).foreign == 6


@pytest.mark.parametrize("threads", [0, 2])
def test_a_point_that_fails_does_not_cost_the_others(content, tmp_path, monkeypatch, threads):
    original = module.run_point

    def run_point(study, *rest):
        if study["contenders"][1]["gradients"] == 60:
            raise ValueError("no such thing")
        return original(study, *rest)

    monkeypatch.setattr(module, "run_point", run_point)
    path = tmp_path / "points.jsonl"

    with (
        ThreadPoolExecutor(max(1, threads)) as pool,
        pytest.raises(ValueError, match="no such thing") as failed,
    ):
        run_sweep(content, tmp_path / "s.toml", path, executor=pool if threads else None)

    assert "'contenders[1].gradients': 60" in failed.value.__notes__[0]
    assert "and 1 others; every other point is finished" in failed.value.__notes__[0]
    assert len(path.read_text().splitlines()) == 4


def test_a_point_without_a_pilot_is_foretold_by_the_other_one(content, tmp_path, monkeypatch):
    """Six points, of which the first one fails and the last one takes seven seconds."""

    def seconds(study):
        if study.contenders[1].jobs == 30:
            raise ValueError("no such thing")
        return 7.0

    monkeypatch.setattr(module, "seconds_of_comparison", seconds)

    assert content["sweep"][1]["values"][0] == 30
    assert module.seconds_of_sweep(content, tmp_path / "s.toml", tmp_path / "p") == (42.0, 0)


def test_two_axes_of_one_field_are_refused(content):
    content["sweep"].append(content["sweep"][0])

    with pytest.raises(FieldError, match="must be swept by one axis"):
        points_of(content)


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_was_finished(tmp_path):
    study = tmp_path / "s.toml"
    study.write_text(STUDY.replace("replicates = 2", "replicates = 64"))
    command = [sys.executable, "-m", "elastic_consistency", "run", str(study)]
    command += ["--output", str(tmp_path / "out"), "--json"]
    points = tmp_path / "out" / "points.jsonl"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (points.exists() and points.read_bytes().count(b"\n") >= 1):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = points.read_bytes().count(b"\n")

    run = subprocess.run([*command, "--jobs", "2"], capture_output=True, text=True, timeout=240)

    told = json.loads(run.stdout)
    assert told["resumed"] == finished >= 1
    assert len(told["rows"]) == points.read_bytes().count(b"\n") == 6
