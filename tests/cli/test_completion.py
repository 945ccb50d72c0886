"""A shell completes verbs, options and the names that arguments choose from."""

import os
import subprocess
import sys

import pytest

SCRIPT = "from elastic_consistency.cli import command; command()"
NAMES = [
    ("elastic adv", "advise"),
    ("elastic bounds eval", "evaluate"),
    ("elastic demo --slow", "--slowdown"),
    ("elastic new two_n", "two_nodes"),
    ("elastic explain stal", "staleness"),
    ("elastic papers run sampled-c", "sampled-clients"),
    ("elastic bounds show server_s", "server_started_gap"),
    ("elastic bounds compare server_started_gap server_e", "server_error_feedback_gap"),
    ("elastic live overl", "overlap-push-sum"),
    ("elastic predict pair", "pairwise"),
]


def _offered(shell: str, **environment: str) -> str:
    """What the command prints where the shell asks it."""
    asked = os.environ | environment | {"_ELASTIC_COMPLETE": f"complete_{shell}"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=asked, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.parametrize(("typed", "meant"), NAMES)
def test_bash_is_offered_the_whole_word(typed, meant):
    position = str(len(typed.split()) - 1)

    offered = _offered("bash", COMP_WORDS=typed, COMP_CWORD=position)

    assert offered.split() == [meant]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_offered_a_word_with_what_it_means(shell):
    asked = {"_TYPER_COMPLETE_ARGS": "elastic new two_n", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}

    offered = _offered(shell, **asked)

    assert "two_nodes" in offered
    assert "5 ms apart" in offered
