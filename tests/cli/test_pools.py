"""Points of a sweep run where they are told to, or one line says why not."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from elastic_consistency.cli.pools import PoolChoice
from elastic_consistency.studies.sweeps import slurm

AXIS = '\n[[sweep]]\nfield = "cluster.workers[0].count"\nvalues = [1, 2, 3, 4]\n'

# Worker "first" stops at its second point, says so and waits to be killed; the other one begins
# no point before that. So it is certain who computes what, however the processes are scheduled.
PRELOAD = """
import os, time
from pathlib import Path
from elastic_consistency.studies.sweeps import run_sweep

def told(original, folder, name, begun):
    def run_point(content, path, modules):
        begun.append(content)
        count = content["cluster"]["workers"][0]["count"]
        if name == "first" and len(begun) == 2:
            (folder / "stuck").touch()
            time.sleep(10_000)
        while name != "first" and not (folder / "go").exists():
            time.sleep(0.02)
        record = original(content, path, modules)
        (folder / f"{name}-finished-{count}").touch()
        return record
    return run_point

if run_sweep.run_point.__name__ != "told":  # Dask loads this file more than once
    folder, name = Path(os.environ["TOLD"]), os.environ["NAME"]
    run_sweep.run_point = told(run_sweep.run_point, folder, name, [])
    run_sweep.run_point.__name__ = "told"
"""


@pytest.fixture
def sweep_file(study_file):
    study_file.write_text(study_file.read_text() + AXIS)
    return study_file


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--jobs", "0"), "--jobs must be a number >= 1, got 0"),
        (("--jobs", "2", "--slurm", "cpu"), "exclude each other"),
        (("--slurm", "cpu", "--slurm-minutes", "0"), "--slurm-minutes must be a number >= 1"),
        (("--dask", "nonsense://x"), "--dask must be the address of a Dask scheduler"),
    ],
)
def test_a_pool_that_cannot_be_is_one_line(elastic, sweep_file, tmp_path, options, told):
    answer = elastic("run", sweep_file, "--output", tmp_path / "out", "--json", *options)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err


def test_only_the_speed_of_this_machine_is_known():
    here = (PoolChoice(), PoolChoice(jobs=3))
    elsewhere = (PoolChoice(dask="tcp://x"), PoolChoice(slurm="cpu"))

    assert [choice.is_here for choice in (*here, *elsewhere)] == [True, True, False, False]


def test_a_replay_of_a_sweep_is_refused(elastic, sweep_file, tmp_path):
    answer = elastic("run", sweep_file, "--output", tmp_path / "out", "--ranks", "2")

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "--ranks must be 0 with the [[sweep]]" in answer.err


def test_a_pool_without_a_sweep_is_refused(elastic, study_file, tmp_path):
    answer = elastic("run", study_file, "--output", tmp_path / "out", "--jobs", "2")

    assert (answer.code, answer.out) == (2, "")
    assert "need a [[sweep]]" in answer.err


@pytest.mark.parametrize(
    ("option", "package", "told"),
    [("--dask", "distributed", "needs dask"), ("--slurm", "submitit", "needs submitit")],
)
def test_a_missing_extra_says_how_to_get_it(
    elastic, sweep_file, tmp_path, monkeypatch, option, package, told
):
    monkeypatch.setitem(sys.modules, package, None)

    answer = elastic("run", sweep_file, "--output", tmp_path, "--json", option, "x")

    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert told in answer.err
    assert "pip install 'elastic-consistency[sweep]'" in answer.err


def test_a_machine_without_slurm_is_one_line(elastic, sweep_file, tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", str(tmp_path))

    answer = elastic("run", sweep_file, "--output", tmp_path, "--json", "--slurm", "cpu")

    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert "--slurm does not work on this machine" in answer.err


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of submitit
def test_points_run_as_jobs(elastic, sweep_file, tmp_path, monkeypatch):
    """Submitit's debug queue runs a job when it is asked for its result."""
    pytest.importorskip("submitit")
    original, asked = slurm.slurm_executor, []

    def local(folder, **words):
        asked.append(words)
        return original(folder, **words, cluster="debug")

    monkeypatch.setattr(slurm, "slurm_executor", local)
    here = elastic("run", sweep_file, "--output", tmp_path / "here", "--json")
    options = ("--slurm", "cpu", "--slurm-minutes", 1)

    there = elastic("run", sweep_file, "--output", tmp_path / "out", "--json", *options)

    assert there.code == 0, there.err
    assert asked == [{"partition": "cpu", "minutes": 1}]
    assert json.loads(there.out) == json.loads(here.out)


def test_a_job_that_fails_fails_its_future():
    class Job:
        def done(self):
            return True

        def result(self):
            raise ValueError("no")

        def cancel(self):
            raise AssertionError("it is done")

    with slurm.JobExecutor(lambda *_: Job(), ask_every_s=0.01) as executor:
        future = executor.submit(print)
        with pytest.raises(ValueError, match="no"):
            future.result()


def _process(*words, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", *words],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def dask_cluster(tmp_path):
    """Address of a scheduler with two workers, each a process, and the first of them."""
    pytest.importorskip("distributed")
    told, preload, file = tmp_path / "told", tmp_path / "preload.py", tmp_path / "scheduler.json"
    told.mkdir()
    preload.write_text(PRELOAD)
    words = ("--no-dashboard", "--host", "127.0.0.1")
    processes = [_process("distributed.cli.dask_scheduler", *words, "--port", "0",
                          "--scheduler-file", str(file))]  # fmt: skip
    while not (file.exists() and file.read_text().strip().endswith("}")):
        assert processes[0].poll() is None
        time.sleep(0.05)
    once = ("--nthreads", "1", "--no-nanny", "--preload", str(preload))
    for name in ("first", "second"):
        places = ("--local-directory", str(tmp_path / name), "--scheduler-file", str(file))
        worker = ("distributed.cli.dask_worker", *words, *once, *places)
        processes.append(_process(*worker, TOLD=str(told), NAME=name))
    yield json.loads(file.read_text())["address"], processes[1], told
    for process in processes:
        process.kill()
        process.wait()


def test_a_killed_dask_worker_costs_only_the_point_that_it_was_at(
    elastic, sweep_file, tmp_path, dask_cluster
):
    from threading import Thread

    address, first, told = dask_cluster

    points = tmp_path / "out" / "points.jsonl"

    def kill_at_its_second_point():
        while not ((told / "stuck").exists() and points.exists() and points.read_bytes()):
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait()
        (told / "go").touch()

    killer = Thread(target=kill_at_its_second_point, daemon=True)
    killer.start()

    answer = elastic("run", sweep_file, "--output", tmp_path / "out", "--json", "--dask", address)

    killer.join()
    lines = points.read_text().splitlines()
    keys = Counter(json.loads(line)["key"] for line in lines)
    finished = sorted(path.name for path in told.glob("*-finished-*"))
    assert answer.code == 0, answer.err
    assert len(keys) == 4
    assert set(keys.values()) == {1}
    # One by the worker that was killed, which nobody repeated, and three by the other one.
    assert sorted(name[-1] for name in finished) == ["1", "2", "3", "4"]
    assert Counter(name.split("-")[0] for name in finished) == {"first": 1, "second": 3}
