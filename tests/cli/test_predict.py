"""`elastic predict`: a live run that the fit never saw, foretold."""

import json

import pytest


@pytest.mark.slow
def test_a_prediction_says_what_was_measured_and_how_the_phases_moved(elastic, study_file):
    options = ("--gradients", 30, "--pause-s", 0.02, "--study", study_file, "--json")

    answer = elastic("predict", "server", *options)

    told = json.loads(answer.out)
    found = told["prediction"]
    assert answer.code == (0 if told["holds"] else 1), answer.err
    assert found["seeds"] == [0, 1, 2]
    assert told["holds"] == all(figure["holds"] for figure in found["figures"])
    assert [len(figure["held_out"]) for figure in found["figures"]] == [2, 2, 2]
    names = [phase["phase"] for phase in found["phases"]]
    assert names == [*(f"compute of worker {w}" for w in range(3)), "pull", "push", "service"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("push-sum",), "protocol must be one of server, all-reduce, pairwise, hogwild"),
        (("servr",), "did you mean 'server'"),
        (("server", "--held-out", "0"), "--held-out must be a number >= 1, got 0"),
        (("hogwild", "--blocks", "1"), "blocks must be a number >= 2 to be predicted, got 1"),
        (("server", "--contender", "a"), "--contender must come with --study"),
    ],
)
def test_bad_input_is_one_line(elastic, words, told):
    answer = elastic("predict", *words)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err
