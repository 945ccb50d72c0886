"""new, run, simulate and replay: from a study file to an answer."""

import json
import re

import pytest

from elastic_consistency.schedule import Schedule


def test_new_lists_its_presets(elastic):
    assert "federated" in json.loads(elastic("new", "--json").out)


def test_new_does_not_overwrite(elastic, study_file):
    before = study_file.read_text()

    answer = elastic("new", "laptop", "--output", study_file)

    assert (answer.code, study_file.read_text()) == (2, before)
    assert "--force replaces it" in answer.err
    assert elastic("new", "laptop", "--output", study_file, "--force").code == 0


def test_new_prints_a_schema(elastic):
    assert json.loads(elastic("new", "--schema").out)["title"] == "StudyTable"


def test_an_unknown_preset_gets_the_nearest(elastic):
    answer = elastic("new", "two_node")

    assert (answer.code, "did you mean 'two_nodes'" in answer.err) == (2, True)


def test_run_writes_a_report(elastic, study_file, tmp_path):
    answer = elastic("run", study_file, "--output", tmp_path / "out")

    assert answer.code == 0, answer.err
    assert "time to loss" in answer.out
    assert (tmp_path / "out" / "report.html").stat().st_size > 50_000


def test_run_of_a_bad_file_is_one_line(elastic, study_file):
    study_file.write_text(study_file.read_text().replace("median_s", "median"))

    answer = elastic("run", study_file)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert re.search(r"small\.toml: cluster\.workers\[0\]\.compute\.median is no field", answer.err)


def test_simulate_writes_the_schedule_that_it_describes(elastic, study_file, tmp_path):
    path = tmp_path / "s.parquet"

    answer = elastic("simulate", study_file, "--seed", 3, "--output", path, "--json")

    told = json.loads(answer.out)
    assert told["digest"] == Schedule.load(path).digest()
    assert (told["seed"], told["n_workers"], told["jobs"]) == (3, 2, 80)


@pytest.mark.parametrize(
    ("option", "told"),
    [(("--contender", "synchron"), "did you mean 'synchronous'"), (("--seed", "-1"), "--seed")],
)
def test_simulate_refuses_what_is_not_there(elastic, study_file, option, told):
    answer = elastic("simulate", study_file, *option)

    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert told in answer.err


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--ranks", "0"), "--ranks must be a number >= 1, got 0"),
        (("--replicates", "0"), "--replicates"),
        (("--step-share", "-1"), "--step-share"),
        (("--contender", "nobody"), "one of asynchronous, synchronous"),
        (("--dtype", "float16"), "--dtype must be one of float64, float32, bfloat16, got"),
        (("--dtype", "bfloat16"), "--tolerance must be given with --dtype bfloat16"),
        (("--pace", "-1"), "--pace must be a finite number >= 0, got -1"),
    ],
)
def test_replay_refuses_bad_numbers(elastic, study_file, tmp_path, option, told):
    answer = elastic("replay", tmp_path / "s.parquet", "--study", study_file, *option)

    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert told in answer.err


@pytest.mark.slow
def test_replay_says_equal_or_fails(elastic, study_file, tmp_path):
    path = tmp_path / "s.parquet"
    elastic("simulate", study_file, "--output", path)

    equal = elastic("replay", path, "--study", study_file, "--json")
    # No difference can be below a negative tolerance.
    different = elastic("replay", path, "--study", study_file, "--tolerance", "-1", "--json")

    assert (equal.code, json.loads(equal.out)["holds"]) == (0, True)
    assert (different.code, json.loads(different.out)["holds"]) == (1, False)


@pytest.mark.slow
def test_replay_waits_rounds_and_orders_as_it_is_told(elastic, study_file, tmp_path):
    """0.1 real seconds for one of the schedule, in single precision."""
    path = tmp_path / "s.parquet"
    elastic("simulate", study_file, "--output", path)
    options = ("--dtype", "float32", "--pace", "0.1", "--ordered", "--ranks", "3")

    told = json.loads(elastic("replay", path, "--study", study_file, *options, "--json").out)

    check = told["check"]
    assert told["holds"]
    assert 1e-12 < check["error"] <= check["tolerance"] < 1e-3
    assert 0 <= check["median_lateness_s"] <= check["largest_lateness_s"]
    assert (check["dtype"], check["pace"], check["ordered"]) == ("float32", 0.1, True)


@pytest.mark.slow
def test_a_device_that_is_not_there_is_one_line_and_a_failed_run(elastic, study_file, tmp_path):
    path = tmp_path / "s.parquet"
    elastic("simulate", study_file, "--output", path)

    answer = elastic("replay", path, "--study", study_file, "--device", "nonsense")

    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert "--device nonsense does not work on this machine" in answer.err


def test_advise_answers_in_text_in_json_and_on_a_page(elastic, study_file, tmp_path):
    folder = tmp_path / "advice"
    text = elastic("advise", study_file, "--output", folder)
    told = json.loads(elastic("advise", study_file, "--output", folder, "--json").out)

    assert text.code == 0, text.err
    words = " ".join(text.out.split())
    assert told["answer"] in words
    assert "deadline of a gradient [s]" in words
    assert "communication window [gradients]" in words
    assert {result["name"] for result in told["results"]} >= {"ringmaster", "synchronous"}
    assert told["answer"] in (folder / "advice.html").read_text()
    assert json.loads((folder / "advice.json").read_text())["answer"] == told["answer"]


def test_advise_can_keep_to_the_contenders_of_the_study(elastic, study_file, tmp_path):
    told = json.loads(
        elastic("advise", study_file, "--own", "--output", tmp_path / "a", "--json").out
    )

    assert {result["name"] for result in told["results"]} == {"asynchronous", "synchronous"}


@pytest.fixture
def trace(tmp_path):
    """Step times of three workers, the last one slower."""
    path = tmp_path / "steps.csv"
    rows = [f"{k % 3},{100 + 7 * (k * k % 11) + 60 * (k % 3 == 2)}" for k in range(60)]
    path.write_text("worker,duration_ms\n" + "\n".join(rows) + "\n")
    return path


def test_advise_needs_no_study_but_a_trace_and_two_numbers(elastic, trace, tmp_path, monkeypatch):
    """102 MB on 10 Gbit/s take 0.0816 s; a server at 20 Gbit/s takes 2.5 GB a second."""
    from elastic_consistency.cli import advise
    from elastic_consistency.studies.files import load_study

    loaded = []

    def asked(path, _folder, **_options):
        loaded.append(load_study(path))
        raise ValueError("asked")

    monkeypatch.setattr(advise, "_asked", asked)
    numbers = ("--model-mb", 102, "--gbit-s", 10, "--workers", 4)
    links = ("--latency-s", 0.002, "--server-gbit-s", 20, "--output", tmp_path / "a")

    answer = elastic("advise", "--trace", trace, *numbers, *links)

    (study,) = loaded
    assert "4 workers as in steps.csv; a link takes 0.0816 s" in answer.err
    assert "and 0.002 s of latency" in answer.err
    assert study.cluster.n_workers == 4
    seconds = study.cluster.workers[0].uplink.mean_seconds(study.payload.update_bytes)
    assert seconds == pytest.approx(0.0836)
    assert study.cluster.server_bandwidth_bytes_per_s == 2.5e9
    means = [worker.compute.mean() for worker in study.cluster.workers]
    assert means[0] == means[1] < means[3]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "advise needs a STUDY or --trace"),
        (("--trace", "TRACE"), "--model-mb must be a number > 0 with --trace, got None"),
        (("--trace", "TRACE", "--model-mb", "1"), "--gbit-s must be a number > 0"),
        (("x.toml", "--workers", "2"), "go with --trace"),
        (("--trace", "TRACE", "--model-mb", "1", "--gbit-s", "1", "--workers", "0"), "--workers"),
        (("--trace", "no.csv", "--model-mb", "1", "--gbit-s", "1"), "no.csv: no such file"),
    ],
)
def test_advise_refuses_what_it_cannot_use(elastic, trace, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)

    answer = elastic("advise", *(str(trace) if word == "TRACE" else word for word in words))

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err


def test_run_of_a_study_with_axes_is_a_sweep_that_resumes(elastic, study_file, tmp_path):
    axis = '\n[[sweep]]\nfield = "cluster.workers[0].count"\nvalues = [1, 2]\n'
    study_file.write_text(study_file.read_text() + axis)

    first = elastic("run", study_file, "--output", tmp_path / "out")
    again = json.loads(elastic("run", study_file, "--output", tmp_path / "out", "--json").out)

    assert first.code == 0, first.err
    assert "2 points in" in first.out
    assert "0 of them from before" in first.out
    assert again["resumed"] == 2
    assert [row["where"] for row in again["rows"]] == [
        {"cluster.workers[0].count": 1},
        {"cluster.workers[0].count": 2},
    ]


def test_a_sweep_of_no_field_is_one_line(elastic, study_file, tmp_path):
    axis = '\n[[sweep]]\nfield = "cluster.workers[0].cuont"\nvalues = [1, 2]\n'
    study_file.write_text(study_file.read_text() + axis)

    answer = elastic("run", study_file, "--output", tmp_path / "out")

    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "small.toml: sweep[0].field must name a field" in answer.err
    assert "did you mean 'count'" in answer.err
