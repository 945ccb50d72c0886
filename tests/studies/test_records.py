"""Results survive the way to JSON."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.studies.comparison.curves import band_over_time
from elastic_consistency.studies.comparison.runs import LossRun
from elastic_consistency.studies.judging.farthest import FarthestModel
from elastic_consistency.studies.on_disk.manifest import data_digest, manifest
from elastic_consistency.studies.on_disk.records import plain
from elastic_consistency.studies.on_disk.restoring import restored
from elastic_consistency.studies.outcome import StudyOutcome
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.run_study import load_outcome, run_study, save_outcome


def test_what_is_not_finite_becomes_null():
    assert plain((math.inf, math.nan, np.float64(-math.inf), 1.5)) == [None, None, None, 1.5]


def test_arrays_sets_and_numbers_become_plain():
    value = {"a": np.arange(3), "b": frozenset({"y", "x"}), 3: np.bool_(True), "c": np.int64(4)}

    assert plain(value) == {"a": [0, 1, 2], "b": ["x", "y"], "3": True, "c": 4}


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="got object"):
        plain(object())


def test_a_whole_outcome_is_strict_json(study, tmp_path):
    told = []
    outcome = run_study(study, tmp_path, ranks=0, progress=Progress(lambda _, d: told.append(d)))

    saved = save_outcome(outcome, tmp_path)

    read = json.loads((tmp_path / "result.json").read_text(), parse_constant=pytest.fail)
    assert read["savings"][0]["share"]["value"] == outcome.savings[0].share.value
    assert saved.files["manifest"] == "manifest.json"
    assert told == sorted(told)
    assert outcome.failures == ()


def test_an_outcome_comes_back_whole(study, tmp_path):
    outcome = run_study(study, tmp_path, ranks=0)
    worse = replace(outcome, target_loss=math.inf, infimum=-math.inf)
    saved = save_outcome(worse, tmp_path)

    loaded = load_outcome(tmp_path / "result.json")

    assert (loaded.target_loss, loaded.infimum) == (math.inf, -math.inf)
    assert plain(loaded, lossless=True) == plain(
        replace(worse, files={k: v for k, v in saved.files.items() if k in outcome.files}),
        lossless=True,
    )
    assert loaded.contenders[0].summary == worse.contenders[0].summary
    assert loaded.savings == worse.savings


@pytest.mark.parametrize(
    ("kind", "record", "value"),
    [
        (float, "inf", math.inf),
        (float | None, None, None),
        (tuple[float, ...], [1, 2.5], (1.0, 2.5)),
        (tuple[str, int], ["a", 1], ("a", 1)),
        (dict[str, float], {"a": "-inf"}, {"a": -math.inf}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (FarthestModel | None, None, None),
    ],
)
def test_plain_types_come_back(kind, record, value):
    assert restored(kind, record) == value


def test_what_is_not_finite_comes_back_in_arrays():
    assert restored(np.ndarray, [1, "inf", "nan"]).tolist()[:2] == [1.0, math.inf]
    assert math.isnan(restored(np.ndarray, [1, "inf", "nan"])[2])
    assert restored(np.ndarray, [1, 2]).dtype.kind == "i"


def test_a_record_of_the_wrong_type_is_refused():
    with pytest.raises(ValueError, match="must be of type str, got 3"):
        restored(str, 3)
    with pytest.raises(ValueError, match="StudyOutcome must have the fields causes, certification"):
        restored(StudyOutcome, {"name": "x"})


def test_the_manifest_names_the_data(study, problem):
    other = replace(study, oracle=replace(problem, labels=1 - problem.labels))

    first, second = (manifest(s, {})["data_sha256"] for s in (study, other))

    assert first != second
    assert first == data_digest(problem)


def test_parts_of_a_progress_share_its_scale():
    told = []
    whole = Progress(lambda _, done: told.append(done))

    whole.part(0.5, 1.0).part(0.0, 0.5).say("x", 0.5)
    whole.part(0.5, 1.0).say("x", 7.0)

    assert told == [0.625, 1.0]


def test_a_band_is_a_step_function_of_time():
    """Two runs that fall from 4 and 2 to 1 at t = 2; before that the mean is 3."""
    run = LossRun(
        reached_s=np.array([2.0, 2.0]),
        time_s=np.array([0.0, 1.0, 2.0, 4.0]),
        gradients=np.arange(4.0),
        loss=np.array([[4.0, 2.0], [4.0, 2.0], [1.0, 1.0], [1.0, 1.0]]),
        diverged=None,
    )

    band = band_over_time([run], 0.0)

    assert band.mean[band.x < 2 * (1 - 1e-9)].tolist() == [3.0] * int((band.x < 2 - 1e-8).sum())
    assert band.mean[-1] == band.lower[-1] == band.upper[-1] == 1.0


def test_the_farthest_model_is_the_farthest_of_all(study):
    from elastic_consistency.execution import execute
    from elastic_consistency.studies.comparison.runs import schedule_of

    schedule = schedule_of(study, study.contenders[0], 0)
    rule = replace(study.contenders[0].rule, step_size=20.0)
    measured = execute(schedule, study.oracle, rule, seeds=(0, 1), probes=(FarthestModel(),))

    farthest = measured["farthest_squared_distance"].last
    last = ((measured.models[0] - study.oracle.minimiser()) ** 2).sum(axis=1)
    start = ((study.oracle.start() - study.oracle.minimiser()) ** 2).sum()
    assert (farthest >= np.maximum(last, start)).all()
