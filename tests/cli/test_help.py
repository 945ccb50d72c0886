"""Every verb explains itself, at once, and speaks JSON."""

import subprocess
import sys

import pytest
import typer

from elastic_consistency.cli.application import application

HEAVY = ("torch", "scipy.stats", "matplotlib", "pandas", "sympy", "sklearn", "simpy")


def _verbs() -> dict[str, object]:
    """Every verb by its words, as in "bounds list"."""
    root = typer.main.get_command(application())
    found = {}
    for name, command in root.commands.items():
        for sub, inner in getattr(command, "commands", {"": command}).items():
            found[f"{name} {sub}".strip()] = inner
    return found


def test_the_promised_verbs_exist():
    promised = (
        "demo new run simulate inspect bounds replay live predict calibrate compare advise papers "
    )
    promised += "report explain"

    assert {verb.split()[0] for verb in _verbs()} == set(promised.split())
    assert {f"bounds {verb}" for verb in ("list", "show", "evaluate", "verify", "compare")} <= set(
        _verbs()
    )


@pytest.mark.parametrize("verb", sorted(_verbs()))
def test_a_verb_has_an_example_in_its_help(elastic, verb):
    answer = elastic(*verb.split(), "--help")

    assert answer.code == 0
    assert f"Example: elastic {verb}" in " ".join(answer.out.split())


@pytest.mark.parametrize("verb", sorted(_verbs()))
def test_a_verb_takes_json(verb):
    options = [option for parameter in _verbs()[verb].params for option in parameter.opts]

    assert "--json" in options


def test_the_help_documents_the_exit_codes(elastic):
    text = " ".join(elastic("--help").out.split())

    assert "0 fine; 1 a verdict or a run failed; 2 bad input" in text


def test_help_without_a_verb_is_bad_input(elastic):
    answer = elastic()

    assert (answer.code, answer.err) == (2, "")
    assert "Usage: elastic" in answer.out


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from elastic_consistency.cli import main; code = main(['--help']); "
        f"print([name for name in {HEAVY} if name in sys.modules], code)"
    )

    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert run.stdout.splitlines()[-1] == "[] 0"


def test_the_package_runs_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "elastic_consistency", "--version"], capture_output=True, text=True
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.strip()[0].isdigit()
