"""`elastic calibrate`: from a measured table to a study that runs."""

import json
import re
from statistics import fmean, pstdev

import pytest


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "steps.csv"
    rows = [f"{k % 3},{100 + 7 * (k * k % 11)}" for k in range(60)]
    path.write_text("worker,duration_ms\n" + "\n".join(rows) + "\n")
    return path


def test_a_trace_becomes_a_study(elastic, table, tmp_path):
    study = tmp_path / "mine.toml"

    answer = elastic("calibrate", table, "--output", study, "--latency-s", 0.001)

    assert answer.code == 0, answer.err
    assert "Records: 60 read, 60 used. Skipped: none." in answer.out
    told = json.loads(elastic("simulate", study, "--json").out)
    assert told["n_workers"] == 3


def test_the_nearest_law_is_that_of_the_smallest_distance(elastic, table):
    told = json.loads(elastic("calibrate", table, "--json").out)["workers"]

    laws = elastic("calibrate", table).out.split("nearest law")[1]

    shown = re.findall(r"(\d) +(\w+)\(", laws)
    assert shown == [(own["worker"], _nearest(own["fits"])) for own in told]
    assert len({name for _, name in shown}) > 1


def _nearest(fits):
    return min(fits, key=lambda fit: fit["distance"])["law"].split('"')[1]


def test_json_holds_every_fit(elastic, table):
    told = json.loads(elastic("calibrate", table, "--json").out)

    assert [worker["steps"] for worker in told["workers"]] == [20, 20, 20]
    for number, worker in enumerate(told["workers"]):
        seconds = [0.1 + 0.007 * (k * k % 11) for k in range(number, 60, 3)]
        assert worker["mean_s"] == pytest.approx(fmean(seconds))
        assert worker["deviation_s"] == pytest.approx(pstdev(seconds))
    distances = [fit["distance"] for fit in told["workers"][0]["fits"]]
    assert len(distances) >= 4
    assert distances == sorted(distances)
    for fit in told["workers"][0]["fits"]:
        # Of 20 values none to three are expected above the 95 % quantile, 95 times in a hundred.
        assert fit["holds"] == (fit["distance"] <= 1.36 / 20**0.5 and fit["tail"] <= 0.15)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--output", "x.toml"),
            "--latency-s must be seconds >= 0 with --output, or --rtt a file, got None",
        ),
        (("--time-column", "worker"), "the unit of column 'worker' is unknown"),
        (("--worker-column", "wrker"), "did you mean 'worker'"),
        (("--output", "x.toml", "--latency-s", "0", "--workers", "0"), "--workers must be"),
        (("--output", "x.toml", "--latency-s", "nan"), "--latency-s must be seconds >= 0"),
        (("--latency-s", "0", "--bandwidth", "0"), "--bandwidth must be bytes a second > 0"),
        (("--latency-s", "0", "--bandwidth", "nan"), "--bandwidth must be bytes a second > 0"),
        (("--latency-s", "0", "--bytes-sent", "inf"), "--bytes-sent must be a finite number"),
    ],
)
def test_bad_input_is_one_line(elastic, table, tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)

    answer = elastic("calibrate", table, *options)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err
    assert not (tmp_path / "x.toml").exists()


def test_a_plot_of_quantiles_is_drawn(elastic, table, tmp_path):
    for name, begin in (("fit.svg", b"<?xml"), ("fit.png", b"\x89PNG")):
        assert elastic("calibrate", table, "--plot", tmp_path / name).code == 0
        assert (tmp_path / name).read_bytes().startswith(begin)

    told = elastic("calibrate", table, "--plot", tmp_path / "fit.pdf")

    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "--plot must end in .svg or .png" in told.err


def test_what_is_missing_for_a_study_is_said_before_the_trace_is_read(elastic, tmp_path):
    answer = elastic("calibrate", tmp_path / "nowhere.json", "--output", tmp_path / "x.toml")

    assert (answer.code, answer.out) == (2, "")
    assert "--latency-s" in answer.err
