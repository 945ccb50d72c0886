"""Whoever is interrupted loses nothing that was finished, and the same command goes on.

The interrupted process stops by itself after its third finished part, says so with a file and
waits; only then is it killed. So no outcome depends on who is faster.
"""

import errno
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elastic_consistency.studies import finished_work, runs
from elastic_consistency.studies.finished_work import FinishedWork

STOPS = """
import sys, time
from pathlib import Path
from elastic_consistency.cli import main
from elastic_consistency.studies import finished_work
from elastic_consistency.studies.sweeps.store import PointStore

def stopping(original, count=[0]):
    def write(*words):
        original(*words)
        count[0] += 1
        if count[0] == 3:
            Path(sys.argv[1]).touch()
            time.sleep(10_000)
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
