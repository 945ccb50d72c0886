"""`elastic bounds` says what the catalogue says."""

import json
from dataclasses import replace

import pytest
import sympy as sp

from elastic_consistency import bounds


def test_evaluate_gives_the_value_of_the_formula(elastic):
    """(n - 1) M = 15 * 2."""
    words = ("bounds", "evaluate", "server_started_gap", "--set", "n=16", "--set", "M=2", "--json")

    assert json.loads(elastic(*words).out)["value"] == 30


def test_list_names_every_bound(elastic):
    listed = json.loads(elastic("bounds", "list", "--json").out)

    assert [entry["name"] for entry in listed] == [b.name for b in bounds.list_bounds()]


def test_show_states_assumptions_and_proof(elastic):
    shown = json.loads(elastic("bounds", "show", "strongly_convex_single_step", "--json").out)

    assert shown["assumptions"] == ["alpha <= 1/(2*L)", "c <= L"]
    assert len(shown["proof"]) == 3
    assert any("strong_convexity" in line for line in shown["derivation"])
    assert shown["example"]["value"] == bounds.get(shown["name"]).evaluate(
        shown["example"]["values"]
    )


def test_show_prints_everything_that_the_bound_knows(elastic):
    text = elastic("bounds", "show", "strongly_convex_single_step").out

    for part in ("<=", "Assumptions", "Source", "derived here", "(2*alpha) x strong_", "Example"):
        assert part in text


def test_plan_gives_step_steps_and_seconds(elastic):
    """L R0^2 / (2 target) = 100 steps at almost 1/L; two workers of 1 s and 3 s need 75 s."""
    values = [word for pair in ("L=2", "R0=1", "B=0", "sigma=0") for word in ("--set", pair)]
    times = ("--worker-seconds", 1, "--worker-seconds", 3)
    words = ("bounds", "plan", "convex_sharp_step", "--target", 0.01, *values)

    planned = json.loads(elastic(*words, *times, "--json").out)

    assert planned["largest_certified_step"] == 0.5
    assert 100 <= planned["steps"] <= 101
    assert 75 <= planned["seconds"] <= 76
    assert "unknown without --worker-seconds" in elastic(*words).out


def test_plan_states_the_formula_where_it_was_solved(elastic):
    """The number of steps is whole, so that it does not change near the best step size."""
    values = [w for pair in ("L=2", "Delta=1", "B=1", "sigma=1") for w in ("--set", pair)]
    words = ("bounds", "plan", "nonconvex_single_step", "--target", 0.1, *values)
    planned = json.loads(elastic(*words, "--json").out)
    numbers = {"L": 2, "B": 1, "sigma": 1, "epsilon": 0.1}

    step = float(sp.sympify(planned["step_size_formula"]).subs(numbers))

    assert step == pytest.approx(planned["step_size"], rel=1e-2)


def test_plan_says_which_target_cannot_be_certified(elastic):
    words = ("bounds", "plan", "convex_sharp_step", "--target", 0.01, "--set", "L=2")

    assert elastic(*words).code == 2
    assert "needs values for B, R0, sigma" in elastic(*words).err


def test_compare_sorts_and_says_what_does_not_apply(elastic):
    words = ("server_applied_gap", "server_started_gap", "heavy_ball_gap")
    values = ("--set", "M=2", "--set", "n=4", "--set", "tau_max=50")

    compared = json.loads(elastic("bounds", "compare", *words, *values, "--json").out)["bounds"]

    assert [(entry["bound"], entry["value"]) for entry in compared] == [
        ("server_started_gap", 6),
        ("server_applied_gap", 100),
        ("heavy_ball_gap", None),
    ]
    assert compared[2]["failed"] == ["mu needs a value"]


def test_compare_puts_nothing_before_something(elastic):
    """A single worker is never stale: (1 - 1) M = 0, and 0.5 * 1 after that."""
    words = ("server_applied_gap", "server_started_gap")
    values = ("--set", "M=0.5", "--set", "n=1", "--set", "tau_max=1")

    compared = json.loads(elastic("bounds", "compare", *words, *values, "--json").out)["bounds"]

    assert [entry["value"] for entry in compared] == [0, 0.5]


def test_verify_prints_the_table_of_the_catalogue(elastic):
    """Three steps; 3 coefficients, 3 exponents and 4 requirements to claim more than (n - 1) M."""
    answer = elastic("bounds", "verify", "server_started_gap")
    heading, _, row = answer.out.splitlines()[1:4]

    assert answer.code == 0
    assert heading.split() == ["bound", "steps", "rejected", "sharper", "undecided", "status"]
    assert row.split() == ["server_started_gap", "3", "10", "0", "0", "derived,", "tight"]
    assert "10 mutants rejected, 0 sharper, 0 undecided; 0 failures" in answer.out


def test_verify_lists_the_mutants_with_their_counterexamples(elastic):
    words = ("bounds", "verify", "server_started_gap", "--mutants")
    (row,) = json.loads(elastic(*words, "--json").out)["bounds"]
    without = {one["change"]: one for one in row["mutants"] if one["kind"] == "premise"}

    assert len(row["mutants"]) == row["rejected"] + row["equivalent"]
    assert without["without SECOND_MOMENT"]["verdict"] == "rejected"
    assert "2 M; M = 1, n = 8" in without["without SECOND_MOMENT"]["reason"]
    assert "2 M; M = 1, n = 8" in elastic(*words).out


def test_verify_fails_with_exit_code_1_on_a_false_bound(elastic, monkeypatch):
    true = bounds.get("server_started_gap")
    false = replace(true, expression=true.expression / 2)
    monkeypatch.setattr(bounds, "list_bounds", lambda: (false,))
    monkeypatch.setattr(bounds, "get", lambda name: false)

    answer, text = elastic("bounds", "verify", "--json"), elastic("bounds", "verify")
    record = json.loads(answer.out)

    assert (answer.code, text.code) == (1, 1)
    assert record["verified"] is False
    assert "the bound claims" in record["failures"][0]
    assert "FAILED: server_started_gap" in text.out


def test_search_says_what_was_tried_and_that_the_catalogue_is_sharper(elastic):
    words = ("bounds", "search", "convex_single_step")
    (step, _) = json.loads(elastic(*words, "--json").out)["steps"]
    text = elastic(*words).out

    assert step["own_premises"] == 9
    assert step["gain"] > 0.3 > step["gain_of_own"]
    assert step["catalogue"][0] == "convex_sharp_step"
    assert "the catalogue" in text
    assert "Nothing sharper than the catalogue was found." in text


def test_search_needs_a_certificate(elastic):
    answer = elastic("bounds", "search", "topk_convex_theorem")

    assert answer.code == 2
    assert "a bound with a certificate, got 'topk_convex_theorem'" in answer.err


def test_text_output_holds_the_same_value(elastic):
    text = elastic("bounds", "evaluate", "server_started_gap", "--set", "n=16", "--set", "M=2").out

    assert "gap (started) <= M*(n - 1)" in text
    assert "= 30" in text
