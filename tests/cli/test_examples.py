"""The example at the end of each verb's help runs as typed, in a folder that holds nothing."""

import shlex

import pytest
import typer

from elastic_consistency.cli.application import application

TABLE = "write steps.csv"
SLOW = {"demo", "run", "advise", "replay", "live", "predict", "compare", "report", "bounds search"}


def _help_ends() -> dict[str, str]:
    """The end of the help of each verb, by its words."""
    root = typer.main.get_command(application())
    found = {}
    for name, command in root.commands.items():
        for sub, inner in getattr(command, "commands", {"": command}).items():
            found[f"{name} {sub}".strip()] = inner.epilog
    return found


def _commands(end: str) -> list[str]:
    """What to type before the example, and the example."""
    example, _, first = end.removeprefix("Example: ").partition("\n\nFirst: ")
    return [*filter(None, first.split("; ")), example]


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(verb, marks=pytest.mark.slow) if verb in SLOW else verb
        for verb in sorted(_help_ends())
    ],
)
def test_an_example_needs_nothing_that_it_does_not_name(elastic, tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)

    for typed in _commands(_help_ends()[verb]):
        if typed.startswith(TABLE):
            heading, row = typed.split('"')[1::2]
            (tmp_path / "steps.csv").write_text(f"{heading}\n{row}\n{row}\n")
            continue
        answer = elastic(*shlex.split(typed)[1:])
        assert answer.code == 0, (typed, answer.err)
