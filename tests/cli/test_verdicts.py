"""What does not hold is exit code 1, says so in text, and is the same in JSON."""

import json
from dataclasses import replace

import pytest

from elastic_consistency.cli import live, predict
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AllReduce
from elastic_consistency.studies import held_out
from elastic_consistency.studies.files import load_study
from elastic_consistency.studies.held_out.prediction import Judged, Prediction
from elastic_consistency.studies.real_processes import parity_check
from elastic_consistency.studies.real_processes.live_check import LiveCheck
from elastic_consistency.studies.real_processes.parity_check import ParityCheck
from elastic_consistency.studies.summaries.schedule_summary import summarise


@pytest.fixture
def lived():
    """A live run whose recorded schedule gives exactly the models that were trained."""
    schedule = simulate(AllReduce(), Cluster.alike(2, Constant(1.0)), until=Until(jobs=4), seed=0)
    return LiveCheck("all-reduce", 0, summarise(schedule), "", 1e-5, 0.0, 0.0, 1e-12, 2.0, 1.0)


@pytest.mark.parametrize(
    ("error", "invalid", "code", "word"),
    [
        (0.0, "", 0, "equal"),
        (1e-12, "", 0, "equal"),
        (1.1e-12, "", 1, "DIFFERENT"),
        (0.0, "rule 'encode first' is broken", 1, "equal"),
    ],
)
def test_a_live_run_fails_if_its_record_is_wrong(
    elastic, lived, tmp_path, monkeypatch, error, invalid, code, word
):
    check = replace(lived, error=error, invalid=invalid)
    monkeypatch.setattr(live, "_run", lambda *_: check)
    words = ("live", "all-reduce", "--output", tmp_path / "x[red].parquet")

    text, record = elastic(*words), elastic(*words, "--json")

    assert (text.code, record.code) == (code, code)
    assert json.loads(record.out)["holds"] is (code == 0)
    assert f"recorded schedule: {word}, relative difference" in text.out
    assert "x[red].parquet. Next: elastic compare" in text.out
    assert (invalid or "every invariant holds") in " ".join(text.out.split())


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (0.0, 0, "equal bit for bit,"),
        (1e-12, 0, "equal,"),
        (1.1e-12, 1, "DIFFERENT,"),
        (None, 1, "no torch here"),
    ],
)
def test_a_replay_fails_if_it_differs_or_did_not_happen(
    elastic, study_file, tmp_path, monkeypatch, error, code, word
):
    """It is asked for with seeds from 0 on and with the step size in units of 1 / L."""
    path, asked = tmp_path / "s.parquet", []
    elastic("simulate", study_file, "--output", path)

    def check(*words, **options):
        asked.append((*words, options["sample_seeds"]))
        skipped = "" if error is not None else "no torch here"
        return ParityCheck("s", "", 2, "gloo", "float64", error, 1e-12, (0, 1, 2), skipped)

    monkeypatch.setattr(parity_check, "check_parity", check)
    words = ("replay", path, "--study", study_file, "--replicates", 3, "--step-share", 0.25)

    text, record = elastic(*words), elastic(*words, "--json")

    smoothness = load_study(study_file).oracle.constants().smoothness
    assert asked[0][0] == path
    assert asked[0][2:] == (SGD(0.25 / smoothness), (0, 1, 2))
    assert (text.code, record.code) == (code, code)
    assert word in " ".join((text.out + text.err).split())
    if error is not None:
        assert json.loads(record.out)["holds"] is (code == 0)


@pytest.mark.parametrize(("predicted", "code", "word"), [(1.0, 0, "yes"), (1.3, 1, "NO")])
def test_a_prediction_that_misses_fails(elastic, tmp_path, monkeypatch, predicted, code, word):
    """Nothing varies between the live runs, so a tenth is allowed."""
    figures = (Judged("seconds a step", 1.0, (1.0, 1.0), predicted, 0.0),)
    found = Prediction("server", (0, 1, 2), (), figures, ())
    monkeypatch.setattr(predict, "_found", lambda *_, **_options: found)
    words = ("predict", "server", "--output", tmp_path / "out")

    text, record = elastic(*words), elastic(*words, "--json")

    assert (text.code, record.code) == (code, code)
    assert json.loads(record.out)["holds"] is (code == 0)
    assert json.loads((tmp_path / "out/prediction.json").read_text()) == json.loads(record.out)
    assert text.out.split("\nPhases")[0].split()[-1] == word


def test_a_prediction_says_beforehand_how_long_its_live_runs_take(elastic, tmp_path, monkeypatch):
    """Two of them, each 1.5 s to start and 120 / 3 gradients of half a second."""

    def stop(*_words, **_options):
        raise ValueError("far enough")

    monkeypatch.setattr(held_out, "predict_held_out", stop)
    words = ("predict", "server", "--held-out", 1, "--pause-s", 0.5, "--output", tmp_path)

    answer = elastic(*words)

    assert answer.err == "elastic: about 43 s\nelastic: far enough\n"
