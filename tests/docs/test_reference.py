"""The reference is complete, and it is read off the package."""

import importlib
import sys
import types

import pytest


@pytest.fixture(scope="module")
def extensions(docs):
    """The modules that write the reference."""
    sys.path.insert(0, str(docs / "_extensions"))
    try:
        names = ("api_pages", "command_line", "docstrings", "metrics", "results")
        yield types.SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(docs / "_extensions"))


def test_every_public_module_has_a_page(extensions, modules_of_the_package):
    pages = "\n".join(extensions.api_pages.pages(modules_of_the_package).values())
    directives = set(pages.split(".. automodule:: ")[1:])
    described = {directive.splitlines()[0] for directive in directives}

    missing = {
        module.__name__
        for module in modules_of_the_package
        if module.__doc__ and module.__name__ not in described
    }

    assert missing == set()


def test_no_public_name_is_undocumented(extensions, modules_of_the_package):
    assert extensions.api_pages.undocumented(modules_of_the_package) == []


def test_an_undocumented_name_is_noticed(extensions, tmp_path, monkeypatch):
    (tmp_path / "silent_example.py").write_text(
        '"""A module."""\n\ndef told():\n    """Say."""\n\ndef untold():\n    pass\n'
        '\nclass Told:\n    """Say."""\n\n    def untold(self):\n        pass\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("silent_example")

    names = extensions.api_pages.undocumented([module])

    assert names == ["silent_example.untold", "silent_example.Told.untold"]


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("E||x - v||^2 at `x*` and x*", r"E\|\|x - v\|\|^2 at ``x*`` and x\*"),
        ("each `Atom`s", r"each ``Atom``\ s"),
        ("a_t + b_", r"a_t + b\_"),
        (">>> f(*a)", ">>> f(*a)"),
    ],
)
def test_what_looks_like_markup_is_escaped(extensions, written, made):
    assert extensions.docstrings.as_restructured_text([written]) == [made, ""]


def test_columns_of_a_docstring_stay_columns(extensions):
    lines = extensions.docstrings.as_restructured_text(["READ   reads", "       it"])

    assert lines == ["::", "", "    READ   reads", "           it", ""]


def test_the_page_of_the_command_line_has_every_verb(extensions):
    verbs = set(extensions.command_line.verbs())

    assert {(), ("demo",), ("bounds", "verify"), ("explain",)} <= verbs
    assert "Usage: elastic bounds verify" in extensions.command_line.help_of(("bounds", "verify"))


def test_the_page_of_the_metrics_has_every_figure(extensions):
    from elastic_consistency.report.glossary import entries

    page = extensions.metrics.page()

    assert [entry.name for entry in entries() if f"## {entry.name}\n" not in page] == []


def test_every_bound_has_a_page(docs):
    from elastic_consistency.bounds import list_bounds

    pages = {path.stem for path in (docs / "theory" / "bounds").glob("*.md")}

    assert {bound.name for bound in list_bounds()} - pages == set()


def test_the_page_of_results_lists_what_there_is(extensions, tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "one.md").write_text("# One\n")

    assert "\n/papers/one\n" in extensions.results.page(tmp_path)
    assert "toctree" not in extensions.results.page(tmp_path / "papers")
