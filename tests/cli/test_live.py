"""`elastic live`: a run that nobody scheduled, and its record."""

import json

import pytest

from elastic_consistency.cli.live import _keep
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AllReduce
from elastic_consistency.studies.real_processes.live_check import LIVE_PROTOCOLS


@pytest.mark.slow
@pytest.mark.parametrize("protocol", LIVE_PROTOCOLS)
def test_the_record_is_valid_and_executing_it_gives_the_trained_models(
    elastic, study_file, tmp_path, protocol
):
    path = tmp_path / "live.parquet"
    options = ("--workers", 2, "--gradients", 6, "--study", study_file, "--output", path)

    answer = elastic("live", protocol, *options, "--json")

    told = json.loads(answer.out)
    assert (answer.code, told["holds"], told["check"]["invalid"]) == (0, True, "")
    assert told["check"]["error"] <= 1e-12
    schedule = Schedule.load(path)
    schedule.check()
    assert told["check"]["summary"]["digest"] == schedule.digest()
    assert len(schedule.jobs) == (6 if protocol == "server" else 12)


@pytest.mark.slow
def test_the_text_names_clock_error_difference_and_staleness(elastic, study_file, tmp_path):
    path = tmp_path / "live.parquet"
    options = ("--gradients", 12, "--pause-s", 0.001, "--study", study_file, "--output", path)

    answer = elastic("live", "server", *options)

    text = " ".join(answer.out.split())
    assert answer.code == 0, answer.err
    assert "LiveServer" in text
    assert "staleness [steps]: mean" in text
    assert "times between processes are off by" in text
    assert "equal, relative difference" in text


def test_a_record_without_room_is_kept_elsewhere(tmp_path, monkeypatch):
    """Real time cannot be run again, so a full disk must not cost the record."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    schedule = simulate(AllReduce(), Cluster.alike(2, Constant(1.0)), until=Until(jobs=4), seed=0)

    with pytest.raises(OSError, match="Not a directory") as caught:
        _keep(schedule, tmp_path / "file" / "live.parquet")

    (spare,) = tmp_path.glob("elastic-live-*/live.parquet")
    assert caught.value.__notes__ == [f"the schedule is in {spare}: elastic inspect {spare}"]
    assert Schedule.load(spare).digest() == schedule.digest()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("servr",), "did you mean 'server'"),
        (("server", "--workers", "0"), "--workers must be a number >= 1, got 0"),
        (("server", "--seed", "-1"), "seed must be a number >= 0, got -1"),
        (("server", "--pause-s", "1", "--pause-s", "2"), "one or 3 of them"),
        (("server", "--contender", "a"), "--contender must come with --study"),
        (("pairwise", "--workers", "1"), "at least 2 workers"),
        (("server", "--output", "nowhere/x.parquet"), "in a folder that exists"),
        (("server", "--output", "."), "file '.' is a directory"),
        (
            ("server", "--read-pause-s", "0.1"),
            "read_pause_s must be finite seconds >= 0 with hogwild",
        ),
    ],
)
def test_bad_input_is_one_line(elastic, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)

    answer = elastic("live", *words)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err
