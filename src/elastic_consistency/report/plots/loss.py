"""Loss against time and against gradients, with bands."""

import numpy as np

from elastic_consistency.report.drawing import INK, SERIES, STYLES, Figure, canvas, png_of, svg_of
from elastic_consistency.report.markup import Markup, table
from elastic_consistency.report.wording import number
from elastic_consistency.studies.comparison.curves import Band
from elastic_consistency.studies.outcome import StudyOutcome

_ROWS = 8
_TALLEST = 1e3  # losses of the start


def loss_over_time(outcome: StudyOutcome) -> Figure:
    """f(x) - f* against simulated seconds."""
    bands = {contender.name: contender.over_time for contender in outcome.contenders}
    return _figure(outcome, bands, "loss-over-time", "simulated time", "s")


def loss_over_gradients(outcome: StudyOutcome) -> Figure:
    """f(x) - f* against gradients that the model has taken in."""
    bands = {contender.name: contender.over_gradients for contender in outcome.contenders}
    return _figure(outcome, bands, "loss-over-gradients", "gradients", "count")


def _figure(
    outcome: StudyOutcome, bands: dict[str, Band], name: str, axis: str, unit: str
) -> Figure:
    target = outcome.target_loss - outcome.infimum
    alternative = _alternative(bands, axis, unit)
    with canvas() as (drawing, (axes,)):
        for number_, (label, band) in enumerate(bands.items()):
            _draw(axes, _cut(band, outcome), label, number_)
        axes.axhline(target, color=INK, linewidth=1, linestyle=(0, (2, 2)))
        axes.annotate(
            "target", (1, target), xycoords=("axes fraction", "data"), ha="right", va="bottom"
        )
        axes.set(xscale="log", yscale="log", xlabel=f"{axis} [{unit}]", ylabel="loss above minimum")
        axes.legend(loc="lower left")
        svg = svg_of(drawing, name, alternative)
        png = png_of(drawing)
    return Figure(
        name=name,
        title=f"Loss against {axis}",
        caption="Mean of all runs; the band holds 90 % of them. Both axes are logarithmic.",
        alternative=alternative,
        svg=svg,
        png=png,
        data=_table(bands, axis, unit),
    )


def _draw(axes, band: Band, label: str, position: int) -> None:
    colour, style = SERIES[position % 4], STYLES[position % 4]
    axes.fill_between(band.x, band.lower, band.upper, color=colour, alpha=0.2, linewidth=0)
    axes.plot(band.x, band.mean, color=colour, linestyle=style, label=label)


def _cut(band: Band, outcome: StudyOutcome) -> Band:
    """Cut off far above the start: a run that diverges has no largest loss."""
    highest = _TALLEST * (outcome.start_loss - outcome.infimum)
    curves = (np.fmin(curve, highest) for curve in (band.mean, band.lower, band.upper))
    return Band(band.x, *curves)


def _alternative(bands: dict[str, Band], axis: str, unit: str) -> str:
    parts = [
        f"{label} goes from {number(band.mean[0])} to {number(band.mean[-1])} "
        f"at {number(band.x[-1])} {unit}"
        for label, band in bands.items()
    ]
    return f"Loss above the minimum against {axis}: " + "; ".join(parts) + "."


def _table(bands: dict[str, Band], axis: str, unit: str) -> Markup:
    rows = []
    for label, band in bands.items():
        for k in np.linspace(0, len(band.x) - 1, _ROWS).astype(int):
            numbers = (band.x[k], band.mean[k], band.lower[k], band.upper[k])
            rows.append((label, *(float(value) for value in numbers)))
    columns = ("contender", f"{axis} [{unit}]", "mean", "5th percentile", "95th percentile")
    return table(f"Loss above the minimum against {axis}", columns, rows)
