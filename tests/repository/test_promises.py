"""What the pages for people say can be done as they say it."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def pages(root) -> dict[Path, str]:
    """Text of every Markdown page of the project."""
    folders = (root.glob("*.md"), (root / "docs").rglob("*.md"), (root / "tests").rglob("*.md"))
    return {path: path.read_text("utf-8") for folder in folders for path in folder}


def _commands(pages: dict[Path, str], tool: str) -> set[str]:
    """Words that follow `tool` on a line of a code block or in inline code."""
    blocks = [
        block
        for text in pages.values()
        for block in (
            *re.findall(r"```.*?\n(.*?)```", text, re.S),
            *re.findall(r"`([^`\n]+)`", text),
        )
    ]
    found = (re.findall(rf"^\s*{tool} ([a-z-]+)", block, re.M) for block in blocks)
    return {command for commands in found for command in commands}


def test_every_make_target_that_a_page_names_exists(root, pages):
    makefile = (root / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^\.PHONY: ([\w-]+)$", makefile, re.M))

    commands = _commands(pages, "make")

    assert commands >= {"demo", "test"}
    assert commands <= targets


def test_every_command_that_a_page_names_exists(pages):
    """Each answers --help in a process of its own."""
    broken = {}

    for command in sorted(_commands(pages, "elastic")):
        script = "from elastic_consistency.cli import main; raise SystemExit(main())"
        run = subprocess.run(
            [sys.executable, "-c", script, command, "--help"], capture_output=True, text=True
        )
        if run.returncode != 0:
            broken[command] = run.stderr

    assert broken == {}


def test_the_page_about_formats_names_every_ending_of_a_trace(root):
    source = root / "src/elastic_consistency/studies/traces/reading.py"
    page = (root / "docs/reference/file_formats.md").read_text("utf-8")
    endings = set(re.findall(r'"(\.[a-z]+)"', source.read_text("utf-8")))

    assert endings >= {".et", ".json", ".parquet", ".txt"}
    assert {ending for ending in endings if f"`{ending}`" not in page} == set()


def test_every_local_link_leads_somewhere(pages):
    dead = [
        f"{path.name}: {target}"
        for path, text in pages.items()
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
        if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists()
    ]

    assert dead == []


def test_every_python_example_of_a_page_prints_what_the_page_says(root, pages):
    """The blocks of one page run in order, in one namespace."""
    runner = doctest.DocTestRunner(verbose=False)
    reports: list[str] = []

    for path, text in pages.items():
        blocks = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
        name = path.relative_to(root).as_posix()
        examples = doctest.DocTestParser().get_doctest(blocks, {}, name, name, 0)
        runner.run(examples, out=reports.append)

    assert runner.summarize(verbose=False).attempted > 0
    assert reports == []
