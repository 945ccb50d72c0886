"""Rows, records, resuming, table and page."""

import inspect
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

from elastic_consistency.cli import main
from elastic_consistency.validation.estimate import Method
from elastic_consistency.validation.papers import catalogue
from elastic_consistency.validation.papers.catalogue import CLAIMS
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.curve import Curve, chart
from elastic_consistency.validation.papers.finding import (
    PaperVerdict,
    at_least,
    at_most,
    computed,
    decreasing,
    in_shape,
    near,
    needs_hardware,
    over_seeds,
    paired_below,
    reproduced,
    share_of_seeds,
)
from elastic_consistency.validation.papers.page import html
from elastic_consistency.validation.papers.run import run_claims
from elastic_consistency.validation.papers.table import markdown

VALUE = PaperValue("two", "section 2", Status.RECALLED, (("two", 2.0),))
CALLS = []


def _experiment(effort, value):
    CALLS.append(effort)
    curve = Curve("line", (1, 2), (1.0, float("inf")), ("x", "y"))
    seeds = over_seeds("seeds", np.array([1.0, 2.0, 3.0]))
    return reproduced(
        (computed("two", 2.0), seeds), (near("is two", 2.0, value["two"], 0.1),), scale="tiny",
        curves=(curve,),
    )  # fmt: skip


CLAIM = PaperClaim("tiny", Paper.ELASTIC, "It | is <two>.", VALUE, _experiment)


def test_a_failing_feature_decides_against_the_claim():
    good, bad = at_most("less", 1.0, 2.0), at_least("more", 1.0, 2.0)

    assert reproduced((), (good,), scale="").verdict is PaperVerdict.REPRODUCED
    assert in_shape((), (good,), scale="").verdict is PaperVerdict.IN_SHAPE
    assert in_shape((), (good, bad), scale="").verdict is PaperVerdict.NOT_REPRODUCED


def test_nothing_tested_is_no_verdict():
    with pytest.raises(ValueError, match="nothing was tested"):
        in_shape((), (), scale="")


def test_equal_neighbours_are_not_decreasing():
    assert decreasing("falls", np.array([3.0, 2.0, 1.0])).holds
    assert not decreasing("falls", np.array([3.0, 2.0, 2.0])).holds


def test_the_interval_of_a_share_is_clopper_and_pearson():
    estimate = share_of_seeds("share", 0, 24).estimate

    assert estimate.method is Method.CLOPPER_PEARSON
    assert estimate.lower == 0
    assert estimate.upper == pytest.approx(1 - 0.025 ** (1 / 24))


@pytest.mark.parametrize(
    ("first", "holds", "told"),
    [
        ((0.0, 0.1, 0.2), True, "difference -1"),
        ((2.0, 2.1, 2.2), False, "the reverse is true"),
        ((0.0, 1.0, 2.0), False, "undecided: the interval holds 0"),
    ],
)
def test_a_pair_is_judged_by_its_interval_and_says_why_it_fails(first, holds, told):
    feature = paired_below("less", np.array(first), np.array([1.0, 1.1, 1.2]))

    assert feature.holds is holds
    assert told in feature.evidence


def test_the_paired_interval_is_that_of_student():
    """Differences 1, 2, 3 with mean 2 and deviation 1; t of 2 degrees at .975 is 4.302653."""
    evidence = paired_below("less", np.array([1.0, 2.0, 3.0]), np.zeros(3)).evidence

    half = 4.302653 / np.sqrt(3)
    assert f"2 [{2 - half:.4g}, {2 + half:.4g}]" in evidence


def test_a_row_that_needs_hardware_is_asked_again_each_time(tmp_path):
    """The hardware, or the data, may have come."""
    CALLS.clear()

    def skipped(effort, value):
        CALLS.append(effort)
        return needs_hardware("install it", "skipped: it is not here")

    claim = replace(CLAIM, experiment=skipped)
    for _ in range(2):
        (record,) = run_claims((claim,), tmp_path)

    assert len(CALLS) == 2
    assert record["extent"] == "to be run"


class _Asked(Exception):  # noqa: N818  (not an error)
    pass


class _Spy:
    """An effort that stops the experiment where the scales differ."""

    full = True

    def pick(self, scaled_down, whole):
        if scaled_down != whole:
            raise _Asked
        return whole


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if not claim.whole], ids=lambda claim: claim.name
)
def test_full_changes_what_is_computed_before_anything_is(claim):
    with pytest.raises(_Asked):
        claim.experiment(_Spy(), claim.value)


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.whole], ids=lambda claim: claim.name
)
def test_a_row_that_is_whole_already_ignores_the_effort(claim):
    assert "_effort" in inspect.signature(claim.experiment).parameters


def test_the_command_passes_full_on_and_the_table_says_so(tmp_path, capsys, monkeypatch):
    def scaled(effort, value):
        return replace(_experiment(effort, value), scale=f"{effort.pick(2, 100)} seeds")

    claims = tuple(replace(CLAIM, name=n, whole=n == "b", experiment=scaled) for n in "ab")
    monkeypatch.setattr(catalogue, "CLAIMS", claims)
    extents = {}
    for word in ("--json", "--full"):
        arguments = ["papers", "run", "--all", "--output", str(tmp_path), "--json", word]
        assert main(arguments) == 0
        records = json.loads(capsys.readouterr().out)
        extents[word] = [(r["extent"], r["scale"]) for r in records]

    assert extents["--json"] == [("scaled down", "2 seeds"), ("whole", "2 seeds")]
    assert extents["--full"] == [("whole", "100 seeds")] * 2
    assert "whole: 100 seeds" in (tmp_path / "papers.md").read_text()
    assert "whole: 100 seeds" in (tmp_path / "papers.html").read_text()


def test_a_finished_row_is_read_and_not_computed_again(tmp_path):
    CALLS.clear()

    first = list(run_claims((CLAIM,), tmp_path))
    second = list(run_claims((CLAIM,), tmp_path))

    assert first == second
    assert len(CALLS) == 1


@pytest.mark.parametrize("change", ["claim", "effort", "broken"])
def test_a_record_that_is_no_longer_true_is_computed_again(tmp_path, change):
    list(run_claims((CLAIM,), tmp_path))
    CALLS.clear()
    claim, effort = CLAIM, Effort()
    if change == "claim":
        claim = replace(CLAIM, value=replace(VALUE, text="three"))
    elif change == "effort":
        effort = Effort(full=True)
    else:
        (tmp_path / "tiny.json").write_text('{"name": "ti')

    list(run_claims((claim,), tmp_path, effort=effort))

    assert len(CALLS) == 1


def test_a_folder_that_cannot_be_is_refused_before_anything_is_computed(tmp_path, capsys):
    CALLS.clear()
    (tmp_path / "file").touch()

    with pytest.raises(FileExistsError):
        list(run_claims((CLAIM,), tmp_path / "file"))
    code = main(["papers", "run", "top-k-condition", "--output", str(tmp_path / "file")])

    assert not CALLS
    assert code == 2
    assert "file exists" in capsys.readouterr().err


def test_the_listener_hears_of_every_row_and_of_the_end(tmp_path):
    heard = []

    list(run_claims((CLAIM,), tmp_path, listener=lambda what, done: heard.append((what, done))))

    assert heard == [("tiny", 0.0), ("done", 1.0)]


_SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from elastic_consistency.validation.papers.catalogue import find
from elastic_consistency.validation.papers.run import run_claims

folder, stops = Path(sys.argv[1]), len(sys.argv) > 2

def watched(claim):
    def experiment(effort, value):
        with (folder / "calls").open("a") as calls:
            calls.write(claim.name + "\\n")
        if stops and claim.name == "bounded-delay-rate":
            print("in the middle", flush=True)
            sys.stdin.read()
        return claim.experiment(effort, value)
    return replace(claim, experiment=experiment)

names = ("top-k-condition", "bounded-delay-rate", "constant-crash")
for record in run_claims(tuple(watched(find(name)) for name in names), folder):
    print(record["name"], record["verdict"])
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    """SIGKILL in the second of three cheap rows: the first is never repeated, none is lost.

    The second row waits on a pipe until it is killed, so that nothing depends on speed.
    """
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    command = [sys.executable, str(script), str(tmp_path)]
    first, second, third = "top-k-condition", "bounded-delay-rate", "constant-crash"

    with subprocess.Popen([*command, "stops"], stdin=PIPE, stdout=PIPE, text=True) as process:
        assert any("in the middle" in line for line in process.stdout)
        process.kill()
    again = subprocess.run(command, capture_output=True, text=True, check=True)

    assert (tmp_path / "calls").read_text().split() == [first, second, second, third]
    assert [line.split()[0] for line in again.stdout.splitlines()] == [first, second, third]


def test_the_page_needs_nothing_else_and_escapes_what_it_shows(tmp_path):
    records = list(run_claims((CLAIM,), tmp_path))

    page = html(records, about="today")

    assert "It | is &lt;two&gt;." in page
    assert "<svg" in page
    assert not any(outside in page for outside in ("http", "<script", "src="))


def test_the_table_has_one_line_a_row_with_eight_cells(tmp_path):
    records = list(run_claims((CLAIM,), tmp_path))

    line = next(x for x in markdown(records, about="today").splitlines() if "`tiny`" in x)

    assert line.replace("\\|", "").count("|") == 9
    assert "as commonly stated; text not checked" in line
    assert "seeds = 2 [-0.4841, 4.484] (3 seeds, first seed 0)" in line


def test_a_row_that_is_not_reproduced_is_never_without_a_cause(tmp_path):
    def failing(effort, value):
        return in_shape((), (at_least("more", 1.0, 2.0),), scale="tiny")

    (record,) = run_claims((replace(CLAIM, experiment=failing),), tmp_path)

    cause = "were not seen at this scale (scaled down)"
    assert cause in markdown([record], about="today")
    assert cause in html([record], about="today")


def test_a_chart_without_a_finite_point_is_empty():
    assert chart((Curve("none", (1.0,), (float("nan"),), ("x", "y")),)) == ""


def test_the_command_lists_and_runs(tmp_path, capsys):
    assert main(["papers", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    arguments = ["papers", "run", "top-k-condition", "--output", str(tmp_path), "--json"]

    assert main(arguments) == 0

    assert {"name", "statement", "status"} <= set(listed[0])
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == "reproduced"
    assert Path(tmp_path / "top-k-condition.json").exists()


def test_the_command_refuses_an_unknown_claim_and_names_a_near_one(tmp_path, capsys):
    assert main(["papers", "run", "top-k-conditions", "--output", str(tmp_path)]) == 2

    assert "top-k-condition" in capsys.readouterr().err
