"""`elastic compare`: what differs, and nothing where nothing does."""

import json

import pytest


@pytest.fixture
def schedules(elastic, study_file, tmp_path):
    """The asynchronous and the synchronous schedule of one study."""
    paths = tmp_path / "a.parquet", tmp_path / "s.parquet"
    for name, path in zip(("asynchronous", "synchronous"), paths, strict=True):
        elastic("simulate", study_file, "--contender", name, "--output", path)
    return paths


def _figures(answer):
    (comparison,) = json.loads(answer.out)["comparisons"]
    return comparison, {pair["name"]: pair for pair in comparison["figures"]}


def test_a_schedule_does_not_differ_from_itself(elastic, schedules):
    comparison, figures = _figures(elastic("compare", schedules[0], schedules[0], "--json"))

    assert all(pair["difference"] == 0 for pair in figures.values())
    assert comparison["staleness_distance"] == 0
    assert [worker["worker"] for worker in comparison["workers"]] == [0, 1]


def test_differences_are_those_of_the_two_summaries(elastic, schedules):
    one, other = (json.loads(elastic("inspect", path, "--json").out) for path in schedules)

    comparison, figures = _figures(elastic("compare", *schedules, "--json"))

    staleness = figures["staleness [steps]: mean"]
    assert staleness["second"] == 0
    assert staleness["difference"] == -one["mean_staleness"]
    per_step = figures["time per step [s]"]
    assert per_step["first"] == one["duration_s"] / one["steps"]
    assert per_step["second"] == other["duration_s"] / other["steps"]
    assert 0 < comparison["staleness_distance"] <= 1


def test_the_text_has_both_files_and_the_change(elastic, schedules):
    answer = elastic("compare", *schedules)

    assert answer.code == 0, answer.err
    assert str(schedules[1]) in answer.out
    assert "time per step [s]" in answer.out
    assert "-100.0%" in answer.out


def test_results_are_compared_contender_by_contender(elastic, study_file, tmp_path):
    folder = tmp_path / "out"
    elastic("run", study_file, "--output", folder)

    told = json.loads(elastic("compare", folder, folder / "result.json", "--json").out)

    names = [comparison["name"] for comparison in told["comparisons"]]
    assert names == ["asynchronous", "synchronous"]
    figures = {pair["name"]: pair for pair in told["comparisons"][0]["figures"]}
    assert figures["time to target [s]"]["difference"] == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{}", "must be a result.json of elastic run or demo"),
        ("nonsense", "must be a result.json"),
        (None, "no such file"),
    ],
)
def test_what_is_no_result_is_one_line(elastic, tmp_path, content, told):
    path = tmp_path / "result.json"
    if content is not None:
        path.write_text(content)

    answer = elastic("compare", path, path)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err


def test_a_name_without_a_file_is_told_before_its_kind(elastic, schedules):
    answer = elastic("compare", "nowhere", schedules[0])

    assert (answer.code, answer.err) == (2, "elastic: nowhere: no such file or directory\n")


def test_two_kinds_are_not_compared(elastic, schedules, tmp_path):
    answer = elastic("compare", schedules[0], tmp_path)

    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "both must be schedules (.parquet) or results" in answer.err
