"""Figures as inline SVG that follow the colours of the page, light or dark."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO, StringIO
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
_LIGHT = {
    INK: "#1c2024",
    SOFT: "#5b6470",
    GRID: "#e7eaee",
    FIRST: "#1f5fbf",
    SECOND: "#b4540a",
    THIRD: "#1d7a55",
    FOURTH: "#7a3fb0",
}
_COLOURED = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
_DOTS_PER_INCH = 160
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
        png: The same in the light colours, as a file.
        data: The numbers behind it as a table.
    """

    name: str
    title: str
    caption: str
    alternative: str
    svg: str
    png: bytes
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


def png_of(drawing: Any) -> bytes:
    """The drawing as a PNG file in the light colours, on white.

    Call it inside of `canvas` and after `svg_of`: it changes the colours of the drawing.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    light = _light_colours()
    for artist in drawing.findobj():
        getters = {name: getattr(artist, f"get_{name}", None) for name in _COLOURED}
        found = {name: _repainted(get(), light) for name, get in getters.items() if get}
        artist.set(**{name: colour for name, colour in found.items() if colour is not None})
    buffer = BytesIO()
    FigureCanvasAgg(drawing)
    drawing.savefig(
        buffer, format="png", dpi=_DOTS_PER_INCH, facecolor="white", metadata={"Software": None}
    )
    return buffer.getvalue()


def standalone(svg: str) -> str:
    """A drawing of the page as a file of its own, in the light colours."""
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(f"var({variable})", _LIGHT[colour])
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg


def _light_colours() -> dict[tuple[float, ...], tuple[float, ...]]:
    """Colour to be shown for each colour that stands for one of the page, without opacity."""
    from matplotlib.colors import to_rgb

    return {_key(to_rgb(colour)): to_rgb(light) for colour, light in _LIGHT.items()}


def _repainted(given: Any, light: dict[tuple[float, ...], tuple[float, ...]]) -> Any:
    """The colour or colours that replace `given`; None to leave it as it is."""
    from matplotlib.colors import to_rgba_array

    rows: Any = to_rgba_array(given)
    if not any(_key(row) in light for row in rows):
        return None
    changed = [
        (*(light[_key(row)] if _key(row) in light else row[:3]), row[3]) for row in rows.tolist()
    ]
    return changed[0] if len(changed) == 1 else changed


def _key(colour: Any) -> tuple[float, ...]:
    return tuple(round(float(part), 4) for part in colour[:3])


def _labelled(source: str, alternative: str) -> str:
    end = source.index(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", source[:end])
    title = f"<title>{escape(alternative)}</title>"
    return f'{head} role="img" aria-label="{escape(alternative)}">{title}{source[end + 1 :]}'
