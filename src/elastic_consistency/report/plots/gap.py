"""The gap of each auxiliary sequence against its bound."""

from itertools import cycle

import numpy as np

from elastic_consistency.report.drawing import FIRST, INK, SECOND, Figure, canvas, png_of, svg_of
from elastic_consistency.report.markup import Markup, table
from elastic_consistency.report.wording import number
from elastic_consistency.studies.judging.certification import Certification, GapCurve

_TALLEST = 1e6  # bounds


def gap_against_bound(certification: Certification) -> Figure:
    """Root mean square of ||x - v|| / step size over time, beside the bound of B."""
    alternative = " ".join(_words(gap) for gap in certification.gaps)
    name = "gap-against-bound"
    with canvas(len(certification.gaps)) as (drawing, panels):
        for axes, gap, colour in zip(
            panels, certification.gaps, cycle((FIRST, SECOND)), strict=False
        ):
            _draw(axes, gap, colour)
        panels[0].set_ylabel("gap / step size [loss/length]")
        svg = svg_of(drawing, name, alternative)
        png = png_of(drawing)
    return Figure(
        name=name,
        title="Gap against bound",
        caption="How far the models that workers saw were from the auxiliary sequence, divided by "
        f"the step size; root mean square over {certification.replicates} replicates. B is the "
        "largest value; the dashed line is what theory promises.",
        alternative=alternative,
        svg=svg,
        png=png,
        data=_table(certification.gaps),
    )


def _draw(axes, gap: GapCurve, colour: str) -> None:
    shown = gap.rms > 0
    rms = np.fmin(gap.rms, _TALLEST * gap.bound)  # a run that diverges has no largest gap
    axes.plot(gap.time_s[shown], rms[shown], color=colour, linewidth=1.2)
    axes.axhline(gap.bound, color=INK, linestyle=(0, (4, 2)), linewidth=1.2)
    place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "top"}
    axes.annotate(f"bound {number(gap.bound)}", (1, gap.bound * 0.93), **place)
    axes.set(yscale="log", xlabel="simulated time [s]", title=f"{gap.sequence} sequence")
    axes.set_ylim(top=max(gap.bound, rms.max(initial=0.0)) * 2)


def _words(gap: GapCurve) -> str:
    return (
        f"The gap of the {gap.sequence} sequence peaks at {number(gap.peak)} and averages "
        f"{number(gap.time_average)}; its bound is {number(gap.bound)}."
    )


def _table(gaps: tuple[GapCurve, ...]) -> Markup:
    rows = [
        (gap.sequence, float(gap.time_s[k]), float(gap.rms[k]), gap.bound)
        for gap in gaps
        for k in np.linspace(0, len(gap.time_s) - 1, 8).astype(int)
    ]
    columns = ("sequence", "time [s]", "rms gap / step size [loss/length]", "bound [loss/length]")
    return table("Gap over time", columns, rows)
