"""Fitted laws beside the data: quantile against quantile."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from elastic_consistency.report.drawing import (
    INK,
    SERIES,
    Figure,
    canvas,
    png_of,
    svg_of,
)
from elastic_consistency.report.markup import Markup, table
from elastic_consistency.report.wording import number

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_MARKS = ("o", "s", "^", "D")
_MOST_POINTS = 400


def quantile_plot(
    workers: Sequence[str], seconds: Sequence[np.ndarray], laws: Sequence[Any]
) -> Figure:
    """Sorted data of each worker against the quantiles of its law, both over the data's mean.

    Points on the diagonal say that the law fits; the four workers farthest from it are shown.

    Args:
        workers: Names.
        seconds: (N,) data of each.
        laws: Law of each.
    """
    curves = [_curve(*pair) for pair in zip(seconds, laws, strict=True)]
    errors = [float(np.abs(data - law).max()) for data, law in curves]
    shown = sorted(np.argsort(errors, kind="stable")[::-1][: len(SERIES)].tolist())
    alternative = "Largest distance from the diagonal, over the mean: " + "; ".join(
        f"worker {workers[k]}, {number(errors[k])}" for k in shown
    )
    name = "goodness-of-fit"
    with canvas(width=4.2, height=4.0) as (drawing, (axes,)):
        for place, k in enumerate(shown):
            _draw(axes, curves[k], f"worker {workers[k]}", place)
        top = max(max(data.max(), law.max()) for data, law in (curves[k] for k in shown))
        axes.plot((0, top), (0, top), color=INK, linewidth=1, linestyle=(0, (2, 2)))
        axes.set(xlabel="quantile of the law / mean", ylabel="quantile of the data / mean")
        axes.legend(loc="upper left")
        svg = svg_of(drawing, name, f"{alternative}.")
        png = png_of(drawing)
    return Figure(
        name=name,
        title="Goodness of fit",
        caption="Points on the diagonal say that the law fits.",
        alternative=f"{alternative}.",
        svg=svg,
        png=png,
        data=_table(workers, seconds, laws),
    )


def _curve(seconds: np.ndarray, law: Any) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of the data and of the law at the same levels, over the mean of the data."""
    count = min(len(seconds), _MOST_POINTS)
    levels = (np.arange(count) + 0.5) / count
    mean = float(seconds.mean())
    return np.quantile(seconds, levels, method="hazen") / mean, law.quantile(levels) / mean


def _draw(axes, curve: tuple[np.ndarray, np.ndarray], label: str, place: int) -> None:
    data, law = curve
    axes.plot(
        law, data, linestyle="none", marker=_MARKS[place], markersize=3, label=label,
        color=SERIES[place],
    )  # fmt: skip


def _table(workers: Sequence[str], seconds: Sequence[np.ndarray], laws: Sequence[Any]) -> Markup:
    rows = [
        (worker, level, float(np.quantile(data, level)), float(law.quantile(np.array([level]))[0]))
        for worker, data, law in zip(workers, seconds, laws, strict=True)
        for level in _LEVELS
    ]
    return table("Quantiles", ("worker", "level", "data [s]", "law [s]"), rows)
