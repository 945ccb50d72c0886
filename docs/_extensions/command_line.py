"""The page of the command line: what every verb answers to --help."""

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from unittest import mock

import typer

from elastic_consistency.cli import main
from elastic_consistency.cli.application import application

_PLAIN = {"COLUMNS": "88", "TERM": "dumb", "NO_COLOR": "1"}


def page() -> str:
    """The page in Markdown."""
    parts = [
        "# Command line",
        (
            "Written by the commands themselves: this is what each answers to `--help`. Every verb "
            "takes `--json`; on standard output there is then one JSON document and nothing else."
        ),
    ]
    for words in verbs():
        parts += [f"## {' '.join(('elastic', *words))}", f"```text\n{help_of(words)}\n```"]
    return "\n\n".join(parts) + "\n"


def verbs() -> Iterator[tuple[str, ...]]:
    """The words of every command, from the bare one on."""
    yield from _below((), typer.main.get_command(application()))


def help_of(words: tuple[str, ...]) -> str:
    """What `elastic words --help` prints, without the blank space around it."""
    out = io.StringIO()
    with mock.patch.dict(os.environ, _PLAIN), redirect_stdout(out):
        code = main([*words, "--help"])
    if code != 0:
        raise RuntimeError(f"elastic {' '.join(words)} --help ended with code {code}.")
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def _below(words: tuple[str, ...], command: object) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _below((*words, name), inner)
