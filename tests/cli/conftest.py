"""The command line without a new process for each test."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from elastic_consistency.cli import main

SMALLER = {
    "gradients = 600": "gradients = 80",
    "gradients = 400": "gradients = 40",
    "target_share = 0.02": "target_share = 0.4",
    "count = 8": "count = 2",
    "count = 2 }\nreplicates = 8": "count = 1 }\nreplicates = 2",
    "replicates = 256": "replicates = 8",
    "[0.5, 0.25, 0.125, 0.0625, 0.03125]": "[0.5, 0.125]",
}


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


@pytest.fixture
def study_file(elastic, tmp_path) -> Path:
    """The preset two_nodes, made small."""
    path = tmp_path / "small.toml"
    assert elastic("new", "two_nodes", "--output", path).code == 0
    text = path.read_text()
    for old, new in SMALLER.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path
