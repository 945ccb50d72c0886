"""What is said to those who wait."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from elastic_consistency.cli import waiting
from elastic_consistency.cli.live import seconds_of_live_run
from elastic_consistency.cli.output import progress_bar, table
from elastic_consistency.cli.waiting import announce, clock_bar, measured_bar
from elastic_consistency.studies import expected_seconds, run_study
from elastic_consistency.studies.judging import power
from elastic_consistency.studies.real_processes.live_check import LiveSettings
from elastic_consistency.validation.papers.catalogue import find
from elastic_consistency.validation.papers.claim import Effort
from elastic_consistency.validation.papers.run import seconds_of_claims


@pytest.mark.parametrize(
    ("seconds", "finished", "told"),
    [
        (1.99, 0, ""),
        (2.0, 0, "elastic: about 2 s\n"),
        (123.4, 0, "elastic: about 120 s\n"),
        (12.34, 5, "elastic: about 12 s; 5 parts of it are finished already\n"),
    ],
)
def test_only_long_waits_are_announced(capsys, seconds, finished, told):
    announce(seconds, quiet=False, finished=finished)

    assert capsys.readouterr() == ("", told)


def test_nothing_is_said_to_a_program(capsys):
    announce(1e6, quiet=True)
    with clock_bar("waiting", 1e6, quiet=True):
        pass

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((0.01, 0.05), ""),  # too little of the work to tell
        ((0.1, 0.35, 0.9), "elastic: about 2.3 s\n"),  # 0.5 s for a quarter, 0.65 to go
        ((0.6, 0.9), ""),  # 0.5 s for a third, 0.1 to go: short
    ],
)
def test_the_first_part_of_the_work_tells_how_long_all_of_it_takes(
    capsys, monkeypatch, shares, told
):
    clock = iter(range(100))
    monkeypatch.setattr(waiting, "perf_counter", lambda: next(clock) / 2)

    with measured_bar(quiet=False) as progress:
        for share in shares:
            progress.say("working", share)

    assert capsys.readouterr().err == told


def test_bars_are_drawn_on_stderr(capsys, monkeypatch):
    monkeypatch.setattr(Console, "is_terminal", True)

    with progress_bar() as progress:
        progress.say("working", 0.5)

    out, err = capsys.readouterr()
    assert out == ""
    assert "working" in err


def test_words_give_way_to_a_number():
    """Of 20 characters the number has twelve."""
    assert "0.0022417384" in _shown(20, ("many words beside it", "0.0022417384")).split()


def test_a_number_without_room_loses_no_digit():
    shown = _shown(8, ("it", "12345678"))

    assert "".join(filter(str.isdigit, shown)) == "12345678"


def _shown(width, row):
    narrow = Console(width=width, file=StringIO())
    narrow.print(table("", "of", "is>", rows=[row]))
    return narrow.file.getvalue()


def test_a_study_is_foretold_with_its_report(elastic, study_file, tmp_path, monkeypatch):
    """Ten seconds of runs, and four for what is drawn and written."""

    def stop(*_words, **_options):
        raise ValueError("far enough")

    monkeypatch.setattr(expected_seconds, "seconds_of_study", lambda _study: 10.0)
    monkeypatch.setattr(power, "power_of_study", lambda _study: ())
    monkeypatch.setattr(run_study, "run_study", stop)

    answer = elastic("run", study_file, "--output", tmp_path / "out")

    assert answer.err == "elastic: about 14 s\nelastic: far enough\n"


def test_a_bar_that_follows_the_clock_lets_errors_through(capsys):
    with pytest.raises(ValueError, match="no"), clock_bar("waiting", 50.0, quiet=False):
        raise ValueError("no")

    assert capsys.readouterr().err == "elastic: about 50 s\n"


def test_a_live_run_takes_its_pauses_and_its_start():
    settings = LiveSettings("server", 4, 100, 0, (0.1, 0.1, 0.1, 0.2))

    assert seconds_of_live_run(settings) == pytest.approx(1.5 + 0.2 * 100 / 4)
    everybody = replace(settings, protocol="all-reduce")
    assert seconds_of_live_run(everybody) == pytest.approx(1.5 + 0.2 * 100)


def test_claims_that_are_finished_take_no_time(elastic, tmp_path):
    claim = find("sampled-clients")
    both = (claim, find("sampled-clients"))
    before = seconds_of_claims(both, tmp_path, effort=Effort())

    (told,) = json.loads(elastic("papers", "run", claim.name, "--output", tmp_path, "--json").out)
    text = elastic("papers", "run", claim.name, "--output", tmp_path).out

    assert before == 2 * claim.seconds > 0
    assert seconds_of_claims(both, tmp_path, effort=Effort()) == 0
    assert text.startswith(f"{claim.name}: {told['verdict']} ({told['seconds']:.1f} s)\n")
