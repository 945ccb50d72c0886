"""The colours can be read in both themes, and the page asks for no other font or size."""

import re
from pathlib import Path

import pytest

from elastic_consistency import report

CSS = (Path(report.__file__).parent / "page.css").read_text()


def _theme(name: str) -> dict[str, str]:
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", light))
    if name == "dark":
        found |= dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", dark))
    return found


def _luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(first: str, second: str) -> float:
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("words", ["--ink", "--soft", "--link", "--good", "--bad"])
@pytest.mark.parametrize("ground", ["--paper", "--panel"])
def test_text_has_a_contrast_of_at_least_4_5(theme, words, ground):
    colours = _theme(theme)

    assert _contrast(colours[words], colours[ground]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("line", ["--first", "--second", "--third", "--fourth"])
def test_lines_have_a_contrast_of_at_least_3(theme, line):
    colours = _theme(theme)

    assert _contrast(colours[line], colours["--panel"]) >= 3


def test_black_on_white_has_the_known_contrast():
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
