"""Figures as inline SVG that follow the colours of the page, light or dark."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any, final

from elastic_consistency.report.markup import Markup

# Colours that occur nowhere else; each becomes a colour of the style sheet.
INK, SOFT, GRID = "#010203", "#040506", "#070809"
FIRST, SECOND, THIRD, FOURTH = "#0a0b0c", "#0d0e0f", "#101112", "#131415"
SERIES = (FIRST, SECOND, THIRD, FOURTH)
STYLES = ("-", "--", "-.", ":")
_VARIABLES = {
    INK: "--ink",
    SOFT: "--soft",
    GRID: "--grid",
    FIRST: "--first",
    SECOND: "--second",
    THIRD: "--third",
    FOURTH: "--fourth",
}
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "elastic",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "lines.linewidth": 1.8,
}


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the report.

    Attributes:
        name: Short name, for files and identifiers.
        title: What it shows.
        caption: How to read it.
        alternative: What it shows, in words, for those who do not see it.
        svg: The drawing, with the colours of the page.
        data: The numbers behind it as a table.
    """

    name: str
    title: str
    caption: str
    alternative: str
    svg: str
    data: Markup


@contextmanager
def canvas(columns: int = 1, *, width: float = 4.8, height: float = 3.2) -> Iterator[Any]:
    """A figure and its axes in the style of the report; closed afterwards.

    Args:
        columns: Axes side by side, with a common vertical axis.
        width: Inches.
        height: Inches.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    with mpl.rc_context(_STYLE):
        drawing = Drawing(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(drawing)
        axes = drawing.subplots(1, columns, sharey=True, squeeze=False)[0]
        yield drawing, axes


def svg_of(drawing: Any, name: str, alternative: str) -> str:
    """The drawing as SVG for a page: identifiers of its own, colours of the page.

    Call it inside of `canvas`, whose style decides how text is written.
    """
    buffer = StringIO()
    drawing.savefig(buffer, format="svg", metadata={"Date": None})
    source = buffer.getvalue()
    source = source[source.index("<svg") :]
    source = re.sub(r"<metadata>.*?</metadata>", "", source, flags=re.DOTALL)
    source = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', source)
    source = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", source)
    source = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', source)
    source = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", source)
    for colour, variable in _VARIABLES.items():
        source = source.replace(colour, f"var({variable})")
    return _labelled(source, alternative)


def standalone(svg: str) -> str:
    """A drawing of the page as a file of its own, in the light colours."""
    light = {
        "--ink": "#1c2024",
        "--soft": "#5b6470",
        "--grid": "#e7eaee",
        "--first": "#1f5fbf",
        "--second": "#b4540a",
        "--third": "#1d7a55",
        "--fourth": "#7a3fb0",
    }
    for variable, colour in light.items():
        svg = svg.replace(f"var({variable})", colour)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg


def _labelled(source: str, alternative: str) -> str:
    end = source.index(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", source[:end])
    title = f"<title>{escape(alternative)}</title>"
    return f'{head} role="img" aria-label="{escape(alternative)}">{title}{source[end + 1 :]}'
