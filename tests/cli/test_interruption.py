"""Whoever is interrupted loses nothing that was finished, and the same command goes on.

The interrupted process stops by itself after its third finished part, says so with a file and
waits; only then is it killed. So no outcome depends on who is faster.
"""

import errno
import json
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.studies.comparison import runs
from elastic_consistency.studies.on_disk import finished_work
from elastic_consistency.studies.on_disk.finished_work import FinishedWork
from elastic_consistency.studies.on_disk.whole_files import write_whole

STOPS = """
import os, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
parent = os.getppid()
from elastic_consistency.cli import main
from elastic_consistency.studies.on_disk import finished_work
from elastic_consistency.studies.sweeps.store import PointStore

def stopping(original, count=[0]):
    def write(*words):
        original(*words)
        count[0] += 1
        if count[0] == 3:
            Path(sys.argv[1]).touch()
            while os.getppid() == parent:  # a test that is gone leaves nothing behind
                time.sleep(0.05)
    return write

finished_work.write_whole = stopping(finished_work.write_whole)
finished_work._code_of_the_package = lambda: b"the same code"
PointStore.add = stopping(PointStore.add)
raise SystemExit(main(sys.argv[2:]))
"""

AXIS = '\n[[sweep]]\nfield = "cluster.workers[0].count"\nvalues = [1, 2, 3, 4]\n'


def _interrupted(words, folder: Path, how: signal.Signals) -> tuple[int, str]:
    """Exit code and stderr of a command that was sent `how` after three finished parts."""
    flag = folder / "three-are-finished"
    command = [sys.executable, "-c", STOPS, str(flag), *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        while not flag.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(how)
        _, told = process.communicate()
    return process.returncode, told.decode()


@pytest.fixture(autouse=True)
def _the_same_code(monkeypatch):
    """Parts are found although somebody edits the package meanwhile."""
    monkeypatch.setattr(finished_work, "_code_of_the_package", lambda: b"the same code")


@pytest.fixture
def computed(monkeypatch):
    """Loss runs that were really computed."""
    made: list[int] = []
    original = runs._arrays

    def arrays(*words, **options):
        made.append(1)
        return original(*words, **options)

    monkeypatch.setattr(runs, "_arrays", arrays)
    return made


@pytest.mark.parametrize("verb", ["run", "advise"])
def test_a_killed_study_goes_on_where_it_was(elastic, study_file, tmp_path, computed, verb):
    whole = elastic(verb, study_file, "--output", tmp_path / "whole", "--json")
    needed = len(computed)
    words = (verb, study_file, "--output", tmp_path / "out", "--json")
    code, _ = _interrupted(words, tmp_path, signal.SIGKILL)
    kept = {path.name for path in (tmp_path / "out" / "unfinished").glob("*.npz")}
    computed.clear()

    resumed = elastic(*words)

    assert (code, len(kept)) == (-signal.SIGKILL, 3)
    assert resumed.code == whole.code == 0
    # The pilots for the estimate of the duration keep nothing; three runs were kept.
    assert len(computed) == needed - 3
    names = ("contenders", "certification") if verb == "run" else ("results", "causes", "settings")
    for name in names:
        assert json.loads(resumed.out)[name] == json.loads(whole.out)[name]
    assert not (tmp_path / "out" / "unfinished").exists()


def test_control_c_is_one_line_and_keeps_what_is_finished(elastic, study_file, tmp_path):
    words = ("run", study_file, "--output", tmp_path / "out", "--json")

    code, told = _interrupted(words, tmp_path, signal.SIGINT)

    assert code == 130
    work = FinishedWork(tmp_path / "out" / "unfinished")
    assert work.count() >= 3
    assert told.splitlines()[-1] == (
        f"elastic: interrupted; {work.told()}, and the same command goes on from there"
    )
    assert elastic(*words).code == 0


def test_a_killed_sweep_goes_on_where_it_was(elastic, study_file, tmp_path):
    study_file.write_text(study_file.read_text() + AXIS)
    words = ("run", study_file, "--output", tmp_path / "out", "--json")

    _interrupted(words, tmp_path, signal.SIGKILL)
    finished = (tmp_path / "out" / "points.jsonl").read_bytes()
    told = json.loads(elastic(*words).out)

    assert finished.count(b"\n") == told["resumed"] == 3
    after = (tmp_path / "out" / "points.jsonl").read_bytes()
    assert after.startswith(finished)
    assert after.count(b"\n") == len(told["rows"]) == 4


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(
    elastic, study_file, tmp_path, monkeypatch, computed
):
    write, room = finished_work.write_whole, [4]

    def full(path, content):
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        room[0] -= 1
        write(path, content)

    words = ("run", study_file, "--output", tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(finished_work, "write_whole", full)
        answer = elastic(*words)
    before, kept = len(computed), FinishedWork(tmp_path / "out" / "unfinished").told()
    again = elastic(*words)

    assert (answer.code, answer.out) == (1, "")
    goes_on = "and the same command goes on from there"
    told = f".npz: no space left on device; {kept}, {goes_on}"
    assert answer.err.splitlines()[-1].endswith(told)
    assert again.code == 0, again.err
    # Without what was kept the second run would compute all that the first one did, and more.
    assert len(computed) - before == 8


@pytest.fixture
def things(elastic, study_file, tmp_path, monkeypatch):
    """A folder with a schedule and a table, where the verbs below are typed."""
    monkeypatch.chdir(tmp_path)
    assert elastic("simulate", study_file, "--output", "s.parquet").code == 0
    (tmp_path / "t.csv").write_text("worker,seconds\n0,1\n0,2\n1,1\n1,3\n")


WRITING = {
    "new": "new laptop --force --output there",
    "simulate": "simulate small.toml --output there",
    "inspect": "inspect s.parquet --timeline there",
    "report": "report s.parquet --output there",
    "calibrate": "calibrate t.csv --latency-s 0 --output there",
    "papers": "papers run sampled-clients --output .",
}


@pytest.mark.parametrize("how", [OSError(errno.ENOSPC, "no room"), KeyboardInterrupt()])
@pytest.mark.parametrize("verb", WRITING)
def test_a_file_that_cannot_be_finished_leaves_the_old_one(
    elastic, things, tmp_path, monkeypatch, verb, how
):
    """The last step of every file is that it takes its place; here that step fails."""
    words, wanted = WRITING[verb].split(), "sampled-clients.json" if verb == "papers" else "there"
    old = tmp_path / wanted
    old.write_text("{}")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda path, target: _fail(how))
        answer = elastic(*words)
    before, left = old.read_text(), list(tmp_path.rglob("*.part"))
    again = elastic(*words)

    full = isinstance(how, OSError)
    assert (before, left) == ("{}", [])
    assert answer.code == (1 if full else 130)
    last = answer.err.splitlines()[-1]
    assert (f"{wanted}: no space left on device" if full else "elastic: interrupted; ") in last
    assert again.code == 0, again.err
    assert old.read_bytes() != b"{}"


def _fail(how: BaseException) -> None:
    raise how


def test_results_appear_together_or_not_at_all(elastic, study_file, tmp_path, monkeypatch):
    """An older answer in the same folder survives a run that is cut short at its last file."""
    out = tmp_path / "out"
    words = ("run", study_file, "--output", out, "--json")
    assert elastic(*words).code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    study_file.write_text(study_file.read_text().replace("gradients = 80", "gradients = 88"))
    with monkeypatch.context() as patch:
        patch.setattr("elastic_consistency.studies.run_study.file_digest", lambda _: _fail(FULL))
        answer = elastic(*words)

    assert answer.code == 1
    assert {path: path.read_bytes() for path in before} == before
    assert elastic(*words).code == 0
    assert (out / "result.json").read_bytes() != before[out / "result.json"]


FULL = OSError(errno.ENOSPC, "no room", "manifest.json")


def test_a_damaged_part_is_computed_again(tmp_path):
    work = FinishedWork(tmp_path)
    work.arrays((1,), lambda: {"a": np.zeros(3)})
    (part,) = tmp_path.iterdir()
    part.write_bytes(part.read_bytes()[:-9])

    found = work.arrays((1,), lambda: {"a": np.ones(2)})

    assert found["a"].tolist() == [1.0, 1.0]


def test_output_that_nobody_can_take_is_one_line(elastic, monkeypatch):
    monkeypatch.setattr("sys.stdout.write", lambda _: _fail(OSError(errno.ENOSPC, "no room")))

    answer = elastic("bounds", "list", "--json")

    where = "standard output or temporary files"
    assert (answer.code, answer.err) == (1, f"elastic: {where}: no space left on device\n")


def test_what_the_dead_left_is_removed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    mark = platform.node()
    left = tmp_path / f"x.json.{mark}-{dead.pid}.part"
    elsewhere = tmp_path / f"x.json.another-machine-{dead.pid}.part"
    for path in (left, elsewhere):
        path.touch()

    write_whole(tmp_path / "x.json", "whole")

    assert {path.name for path in tmp_path.iterdir()} == {"x.json", elsewhere.name}


def test_a_folder_is_not_a_file_to_write(tmp_path, monkeypatch):
    """The folder "." has no name beside which a file could be written."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(IsADirectoryError, match=r"Is a directory: '\.'"):
        write_whole(Path(), "text")

    assert list(tmp_path.iterdir()) == []
