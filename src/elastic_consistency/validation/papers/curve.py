"""A curve of a finding, drawn as SVG without any library."""

import math
from dataclasses import dataclass
from html import escape
from typing import final

_WIDTH, _HEIGHT, _MARGIN, _LEGEND = 460, 220, 46, 190  # the legend lies to the right
_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b83280", "#4a5568")


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart; curves of one finding with the same axes share a chart.

    Attributes:
        name: What the line is.
        x: Abscissae.
        y: Ordinates, as many; what is not finite is left out.
        axes: Names of the two axes.
        logarithmic: Whether the ordinate is logarithmic.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    axes: tuple[str, str]
    logarithmic: bool = False

    def points(self) -> list[tuple[float, float]]:
        """The points that can be drawn."""
        pairs = zip(self.x, self.y, strict=True)
        sound = [(x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
        return [(x, y) for x, y in sound if y > 0 or not self.logarithmic]


def chart(curves: tuple[Curve, ...]) -> str:
    """SVG of curves with the same axes; empty if none has a point."""
    points = [point for curve in curves for point in curve.points()]
    if not points:
        return ""
    logarithmic = curves[0].logarithmic
    scale_y = math.log10 if logarithmic else float
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(scale_y(y) for _, y in points), max(scale_y(y) for _, y in points)

    def place(x: float, y: float) -> str:
        across = (x - left) / (right - left or 1)
        up = (scale_y(y) - low) / (high - low or 1)
        column = _MARGIN + across * (_WIDTH - 2 * _MARGIN)
        return f"{column:.1f},{_HEIGHT - _MARGIN - up * (_HEIGHT - 2 * _MARGIN):.1f}"

    lines = [_line(number, curve, place) for number, curve in enumerate(curves)]
    ends = (left, right, 10**low if logarithmic else low, 10**high if logarithmic else high)
    inside = "".join((*lines, _frame(curves[0].axes, ends)))
    return f'<svg viewBox="0 0 {_WIDTH + _LEGEND} {_HEIGHT}" role="img">{inside}</svg>'


def _line(number: int, curve: Curve, place) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    path = " ".join(place(x, y) for x, y in curve.points())
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    column, height = _WIDTH - _MARGIN + 8, _MARGIN + 10 + 15 * number
    name = f'<text x="{column}" y="{height}" style="fill:{colour}">{escape(curve.name)}</text>'
    return line + name


def _frame(axes: tuple[str, str], ends: tuple[float, float, float, float]) -> str:
    bottom = _HEIGHT - _MARGIN
    texts = (
        (_MARGIN, bottom + 15, f"{ends[0]:.3g}"),
        (_WIDTH - _MARGIN - 20, bottom + 15, f"{ends[1]:.3g}"),
        (4, bottom, f"{ends[2]:.3g}"),
        (4, _MARGIN, f"{ends[3]:.3g}"),
        (_WIDTH / 2 - 40, bottom + 32, axes[0]),
        (4, _MARGIN - 16, axes[1]),
    )
    labels = "".join(f'<text x="{x}" y="{y}">{escape(text)}</text>' for x, y, text in texts)
    box = (
        f'<path d="M{_MARGIN},{_MARGIN} V{bottom} H{_WIDTH - _MARGIN}" '
        'fill="none" stroke="#a0aec0"/>'
    )
    return box + labels
