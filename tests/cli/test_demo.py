"""`elastic demo` from the first word to the last file, at a tiny scale."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from elastic_consistency.cli import demo, main

TINY = ("--workers", 4, "--schedules", 2, "--replicates", 2, "--judged", 8, "--rounds", 24)
QUICK = (*TINY, "--target", 0.3, "--ranks", 0)


@pytest.fixture(scope="module")
def demos(tmp_path_factory) -> dict[str, tuple[str, Path]]:
    """The same demo told as text and as JSON: what it printed, and where it wrote."""
    told = {}
    for manner, more in (("text", ()), ("json", ("--json",))):
        folder, out = tmp_path_factory.mktemp(manner), StringIO()
        with redirect_stdout(out):
            code = main([str(w) for w in ("demo", "--output", folder, *QUICK, *more)])
        assert code == 0
        told[manner] = (out.getvalue(), folder)
    return told


def test_the_demo_shows_a_card(demos):
    card, _ = demos["text"]

    told = ("time to loss", "saving", "staleness", "B, the elastic constant", "error rate 0.01")
    assert [word for word in (*told, "largest certified step size") if word not in card] == []


def test_the_demo_writes_its_files(demos):
    _, folder = demos["text"]

    written = {path.name for path in folder.iterdir() if path.is_file()}
    assert {"report.html", "result.json", "manifest.json"} <= written
    assert {"asynchronous-0.parquet", "synchronous-0.pftrace"} <= written


def test_json_is_strict_and_says_what_the_file_says(demos):
    printed, folder = demos["json"]

    result = json.loads(printed, parse_constant=pytest.fail)

    saved = (folder / "result.json").read_text()
    for lossless in ("inf", "-inf", "nan"):  # in the file as text, printed as null
        saved = saved.replace(f'"{lossless}"', "null")
    assert result["contenders"] == json.loads(saved, parse_constant=pytest.fail)["contenders"]
    assert result["contenders"][0]["name"] == "asynchronous"


def test_the_same_seed_gives_the_same_files(demos):
    (_, first), (_, second) = demos.values()

    names = ("result.json", "report.html", "asynchronous-0.parquet")
    assert [n for n in names if (first / n).read_bytes() != (second / n).read_bytes()] == []


def test_the_written_schedule_can_be_inspected(demos, elastic):
    _, folder = demos["text"]

    shown = json.loads(elastic("inspect", folder / "asynchronous-0.parquet", "--json").out)

    assert (shown["protocol"], shown["n_workers"], shown["jobs"]) == ("AsynchronousServer", 4, 96)
    assert shown["largest_in_flight"] == 3


def test_the_table_of_workers_shows_each_number_on_one_line(demos, elastic, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, folder = demos["text"]

    answer = elastic("inspect", folder / "asynchronous-0.parquet")

    record = json.loads(elastic("inspect", folder / "asynchronous-0.parquet", "--json").out)
    lines = {tuple(line.split()) for line in answer.out.splitlines()}
    assert max(map(len, answer.out.splitlines())) <= 80
    for worker in record["workers"]:
        phases = (f"{worker[name]:.3g}" for name in ("pull_s", "compute_s", "wait_s", "idle_s"))
        begin = (str(worker["worker"]), str(worker["jobs"]), *phases)
        assert begin in {line[:6] for line in lines}


def test_inspect_writes_a_timeline(demos, elastic, tmp_path):
    _, folder = demos["text"]

    answer = elastic(
        "inspect", folder / "synchronous-0.parquet", "--timeline", tmp_path / "again.pftrace"
    )

    assert answer.code == 0
    assert "Longest waits first" in answer.out
    again, first = tmp_path / "again.pftrace", folder / "synchronous-0.pftrace"
    assert again.read_bytes() == first.read_bytes()


def test_the_manifest_holds_every_seed_and_digest(demos):
    _, folder = demos["text"]

    manifest = json.loads((folder / "manifest.json").read_text())

    assert manifest["seeds"]["timing"] == [0, 1]
    assert manifest["seeds"]["samples"] == {"0": [0, 1], "1": [2, 3]}
    assert len(manifest["schedule_digests"]["synchronous"]) == 2
    assert set(manifest["files_sha256"]) >= {"report.html", "asynchronous-0.parquet"}
    assert manifest["versions"]["numpy"][0].isdigit()


def test_an_unwritable_folder_is_one_line(elastic, tmp_path):
    (tmp_path / "file").write_text("")

    answer = elastic("demo", "--output", tmp_path / "file" / "out", *QUICK)

    assert (answer.code, answer.out) == (2, "")
    assert str(tmp_path / "file") in answer.err.splitlines()[-1]


@pytest.mark.slow
def test_the_replay_on_two_processes_equals_the_executor(elastic, tmp_path):
    answer = elastic("demo", "--output", tmp_path, *TINY, "--target", 0.3, "--json")

    checks = json.loads(answer.out)["parity"]

    assert [check["ranks"] for check in checks] == [2, 2]
    assert max(check["error"] for check in checks) <= 1e-12


def test_every_number_of_the_demo_goes_where_it_belongs(elastic, monkeypatch):
    """12 rounds of 6 workers are 72 gradients; the timing seeds of 3 schedules begin at 40."""
    studies = []
    monkeypatch.setattr(demo, "present", lambda study, *_, **_options: studies.append(study))
    counts = ("--workers", 6, "--schedules", 3, "--replicates", 5, "--judged", 7, "--rounds", 12)

    elastic("demo", *counts, "--seed", 40, "--slowdown", 4, "--target", 0.25)

    (study,) = studies
    assert (study.seeds.timing, study.seeds.replicates) == ((40, 41, 42), 5)
    assert study.certificate.replicates == 7
    assert [contender.jobs for contender in study.contenders] == [72, 72]
    assert study.target == 0.25
    assert [worker.slowdown for worker in study.cluster.workers] == [4, 1, 1, 1, 1, 1]
