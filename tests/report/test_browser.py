"""The page in a real browser: it fits a phone, follows the theme, and its tables sort."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--allow-file-access-from-files",
]

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium; apt-get install chromium")


def _ask(tmp_path: Path, page: Path, question: str, *flags: str, width: int = 1200) -> dict:
    """The value of a script that runs beside the page, which is `width` pixels wide."""
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe src="{page.as_uri()}" style="width:{width}px;height:900px;border:0"></iframe>'
        "<pre id=answer></pre><script>onload = () => {"
        "const doc = document.querySelector('iframe').contentDocument;"
        f"const value = (() => {{ {question} }})();"
        "document.getElementById('answer').textContent = JSON.stringify(value); }</script>"
    )
    command = [BROWSER, *FLAGS, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    run = subprocess.run(
        [*command, "--virtual-time-budget=5000", frame.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return json.loads(unescape(re.search(r"<pre id=\"answer\">(.*?)</pre>", run.stdout)[1]))


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_is_wider_than_the_screen(reported, tmp_path, width):
    page = reported[1] / "report.html"

    widths = _ask(
        tmp_path,
        page,
        "return [doc.documentElement.scrollWidth, doc.body.scrollWidth]",
        width=width,
    )

    assert max(widths) <= width


@pytest.mark.parametrize(("flags", "paper"), [((), 251), (("--force-dark-mode",), 20)])
def test_the_page_follows_the_theme(reported, tmp_path, flags, paper):
    question = "return getComputedStyle(doc.body).backgroundColor"

    colour = _ask(tmp_path, reported[1] / "report.html", question, *flags)

    assert int(re.findall(r"\d+", colour)[0]) == paper


def test_a_click_on_a_heading_sorts_by_value(reported, tmp_path):
    """Numbers sort as numbers: 1e-05 is before 0.3; a second click turns the order around."""
    question = """
      const table = [...doc.querySelectorAll('table')].find(
        t => t.caption.textContent.startsWith('Time of each worker'));
      const button = [...table.querySelectorAll('th button')].find(
        b => b.textContent.startsWith('compute'));
      const column = [...button.closest('tr').children].indexOf(button.parentElement);
      const read = () => [...table.tBodies[0].rows].map(r => +r.children[column].dataset.value);
      button.click(); const up = read(); button.click();
      return {up, down: read(), sort: button.parentElement.getAttribute('aria-sort')};
    """

    answer = _ask(tmp_path, reported[1] / "report.html", question)

    assert answer["up"] == sorted(answer["up"])
    assert answer["down"] == sorted(answer["down"], reverse=True)
    assert (len(answer["up"]), answer["sort"]) == (8, "descending")
