"""The command line without a new process for each test."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from elastic_consistency.cli import main


class Answer(NamedTuple):
    """What one command said."""

    code: int
    out: str
    err: str


@pytest.fixture
def elastic(capsys) -> Callable[..., Answer]:
    """elastic("bounds", "list") runs the command and returns code, stdout and stderr."""

    def run(*words: object) -> Answer:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run
