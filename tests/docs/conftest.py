"""A page of the documentation as a script: its blocks are run in the order in which they stand.

- A `pycon` block is a doctest; all blocks of a page share one namespace.
- A `code-block` with a caption is a file of that name.
- A `console` block holds commands after `$ ` and what each prints. `elastic` runs in this process,
  `python FILE` in one of its own, `echo $?` prints the last exit code; other commands are for
  the reader. A comment `test: smaller` before the block lets the quick test run the command on
  a smaller study, and then only its exit code counts; `test: slow` lets it leave the block out.
  The slow test runs all as it stands.
- A `code-cell` is a cell of a notebook. A comment `prints` after it says what it must print.
"""

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from elastic_consistency.cli import main

DOCS = Path(__file__).parents[2] / "docs"
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_BLOCK = re.compile(
    r"(?:<!-- test: (?P<how>smaller|slow)(?P<extra>[^\n]*) -->\n)?"
    r"^(?P<fence>`{3,})(?P<kind>[^\n]*)\n(?P<body>.*?)^(?P=fence)$"
    r"(?:\n+<!-- prints\n(?P<prints>.*?)-->)?",
    re.S | re.M,
)
_SMALLER = (
    (r"gradients = \d+", "gradients = 160"),
    (r"timing = \{[^}]*\}", "timing = { first = 0, count = 2 }"),
    (r"tuning = \{[^}]*\}", "tuning = { first = 1000, count = 1 }"),
    (r"replicates = \d+", "replicates = 2"),
    (r"step_sizes_times_smoothness = \[[^]]*\]", "step_sizes_times_smoothness = [0.5]"),
    (r"target_share = [\d.]+", "target_share = 0.5"),
)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    body: str
    how: str
    extra: tuple[str, ...]
    prints: str | None


@dataclass
class Failure:
    """What was expected of one example and what came."""

    source: str
    wanted: str
    got: str

    def __str__(self) -> str:
        return f"$ {self.source}\nexpected:\n{self.wanted}\ngot:\n{self.got}"


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page in their order."""
    return [
        Block(
            found["kind"].strip(),
            found["body"],
            found["how"] or "",
            tuple(shlex.split(found["extra"] or "")),
            found["prints"],
        )
        for found in _BLOCK.finditer(text)
    ]


def is_executed(text: str) -> bool:
    """Whether the page has a block that runs."""
    return any(
        block.kind == "pycon" or block.kind.startswith("{code-cell}") or "$ elastic" in block.body
        for block in blocks_of(text)
    )


@dataclass
class Script:
    """Runs the blocks of one page in the present folder."""

    full: bool
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    failures: list[Failure] = field(default_factory=list)
    n_examples: int = 0
    code: int = 0

    def run(self, text: str) -> list[Failure]:
        """What went wrong, nothing if all is well."""
        for block in blocks_of(text):
            if block.kind == "pycon":
                self._doctest(block)
            elif block.kind.startswith("{code-cell}"):
                self._cell(block)
            elif block.kind.startswith("{code-block}"):
                self._file(block)
            elif block.kind == "console" and (self.full or block.how != "slow"):
                self._console(block)
        return self.failures

    def _doctest(self, block: Block) -> None:
        runner = doctest.DocTestRunner(verbose=False, optionflags=_OPTIONS)
        test = doctest.DocTestParser().get_doctest(block.body, self.namespace, "page", None, 0)
        reports: list[str] = []
        self.n_examples += len(test.examples)
        runner.run(test, out=reports.append, clear_globs=False)
        self.namespace.update(test.globs)
        self.failures += [Failure("pycon block", "", report) for report in reports]

    def _cell(self, block: Block) -> None:
        source = re.sub(r"\A(?:---\n.*?---\n|(?::[^\n]*\n)+)", "", block.body, flags=re.S)
        out = io.StringIO()
        error = None
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(source, "cell", "exec"), self.namespace)
            except Exception as caught:  # noqa: BLE001  (the page says whether it should be)
                error = caught
        expects_error = "raises-exception" in block.body
        if (error is not None) != expects_error:
            self.failures.append(Failure(source, f"an error: {expects_error}", repr(error)))
        told = out.getvalue() + (f"{type(error).__name__}: {error}\n" if error else "")
        self._compare(source, block.prints or "", told)

    def _file(self, block: Block) -> None:
        caption, _, body = block.body.partition("\n")
        if caption.startswith(":caption: "):
            path = Path(caption.removeprefix(":caption: "))
            path.write_text(body.lstrip("\n"), "utf-8")

    def _console(self, block: Block) -> None:
        smaller = block.how == "smaller" and not self.full
        for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.body, re.M):
            words = shlex.split(command, comments=True)
            if smaller:
                shrink_studies(Path())
                words += block.extra
            got = self._command(words)
            if got is None:
                continue
            if smaller:
                self._compare(command, "0", str(self.code))
            else:
                self._compare(command, wanted, got)

    def _command(self, words: list[str]) -> str | None:
        if words[0] == "elastic":
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                self.code = main(words[1:])
            return out.getvalue()
        if words[0] == "python":
            run = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True)
            self.code = run.returncode
            return run.stdout + run.stderr
        return f"{self.code}\n" if words == ["echo", "$?"] else None

    def _compare(self, source: str, wanted: str, got: str) -> None:
        self.n_examples += 1
        wanted, got = (f"{text.strip()}\n" for text in (wanted, got))
        if not doctest.OutputChecker().check_output(wanted, got, _OPTIONS):
            self.failures.append(Failure(source, wanted, got))


def shrink_studies(folder: Path) -> None:
    """Make every study file of the folder one that takes a second."""
    for path in folder.glob("*.toml"):
        text = path.read_text("utf-8")
        for pattern, replacement in _SMALLER:
            text = re.sub(pattern, replacement, text)
        path.write_text(text, "utf-8")


@pytest.fixture
def script(tmp_path, monkeypatch):
    """script(full) runs pages in an empty folder, for a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    known = set(sys.modules)
    yield lambda *, full: Script(full=full)
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`page` is every page that runs; `long_page` is one of which the quick test runs less."""
    texts = {path: path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}
    texts = {path: text for path, text in texts.items() if "generated" not in path.parts}
    pages = {path: text for path, text in texts.items() if is_executed(text)}
    chosen = {
        "page": pages,
        "long_page": {path: text for path, text in pages.items() if "<!-- test: " in text},
    }
    for name, found in chosen.items():
        if name in metafunc.fixturenames:
            ids = [path.relative_to(DOCS).as_posix() for path in found]
            metafunc.parametrize(name, list(found.values()), ids=ids)


@pytest.fixture(scope="session")
def docs() -> Path:
    """Folder of the documentation."""
    return DOCS


@pytest.fixture(scope="session")
def modules_of_the_package() -> list[Any]:
    """Every public module, imported."""
    import importlib
    import pkgutil

    package = importlib.import_module("elastic_consistency")
    found = pkgutil.walk_packages(package.__path__, "elastic_consistency.")
    names = [module.name for module in found if "._" not in module.name]
    return [package, *(importlib.import_module(name) for name in names)]
