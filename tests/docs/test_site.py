"""The site is built without a warning and needs no network."""

import re
import subprocess
import sys

import pytest

_LOADED = re.compile(r"""<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"|<link[^>]*\shref="([^"]+)\"""")
_KINDS_OF_LINK_THAT_LOAD = re.compile(r'rel="(?:stylesheet|icon|preload|modulepreload)"')


def _loaded(html: str) -> set[str]:
    """Addresses that a browser fetches to show a page; links to click are not among them."""
    return {
        found[1] or found[2]
        for found in _LOADED.finditer(html)
        if found[1] or _KINDS_OF_LINK_THAT_LOAD.search(found[0])
    }


@pytest.fixture(scope="module")
def site(docs, tmp_path_factory):
    """Folder of the built site."""
    pytest.importorskip("myst_nb", reason="needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    words = ("-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going")
    run = subprocess.run(
        [sys.executable, *words, str(docs), str(folder)], capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_site_loads_nothing_from_elsewhere(site):
    remote = {
        page.relative_to(site).as_posix(): [
            a for a in _loaded(text) if a.startswith(("http", "//"))
        ]
        for page in site.rglob("*.html")
        if (text := page.read_text("utf-8"))
    }

    assert "tutorial.html" in remote
    assert {page: found for page, found in remote.items() if found} == {}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_site_has_formulas_and_the_output_of_its_notebook(site):
    formulas = (site / "explanation" / "elastic_consistency.html").read_text("utf-8")
    notebook = (site / "how_to" / "property_test.html").read_text("utf-8")

    assert "mathjax/tex-svg.js" in formulas
    assert (site / "_static" / "mathjax" / "LICENSE").is_file()
    assert "gap 2 M &gt; 1.5 M to the started sequence" in notebook


def test_a_remote_script_or_style_is_noticed():
    html = (
        '<script async="async" src="https://x.org/a.js"></script><a href="https://x.org">x</a>'
        '<link rel="stylesheet" href="https://x.org/a.css"><link rel="search" href="s.html">'
    )

    assert _loaded(html) == {"https://x.org/a.js", "https://x.org/a.css"}
