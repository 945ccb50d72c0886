"""What slows the baseline down: one cause taken away at a time."""

from elastic_consistency.report.drawing import FIRST, INK, SOFT, Figure, canvas, png_of, svg_of
from elastic_consistency.report.markup import Markup, table
from elastic_consistency.report.wording import interval, percentage
from elastic_consistency.studies.comparison.what_if import WhatIf
from elastic_consistency.studies.outcome import StudyOutcome


def causes_of_waiting(outcome: StudyOutcome) -> Figure:
    """Seconds of a run of the last contender, as it is and without each cause."""
    rows, who = outcome.causes, outcome.contenders[-1].name
    alternative = f"Seconds of a run of {who}: " + "; ".join(
        f"{row.cause}, {interval(row.seconds)}" for row in rows
    )
    name = "causes-of-waiting"
    with canvas(height=0.8 + 0.42 * len(rows)) as (drawing, (axes,)):
        _draw(axes, rows)
        svg = svg_of(drawing, name, alternative + ".")
        png = png_of(drawing)
    return Figure(
        name=name,
        title=f"What slows {who} training down",
        caption="Seconds of a run of fixed length with one cause taken away at a time; the same "
        "random numbers otherwise. Thin lines are intervals over schedules.",
        alternative=alternative + ".",
        svg=svg,
        png=png,
        data=_table(rows),
    )


def _draw(axes, rows: tuple[WhatIf, ...]) -> None:
    for place, row in enumerate(rows):
        seconds = row.seconds
        colour = SOFT if row.gain is None else FIRST
        axes.barh(place, seconds.value, height=0.4, color=colour, alpha=0.75)
        axes.plot((seconds.lower, seconds.upper), (place, place), color=INK, linewidth=1)
        axes.annotate(_label(row), (0, place - 0.28), va="bottom", xytext=(2, 0),
                      textcoords="offset points")  # fmt: skip
    axes.set(xlabel="seconds of a run [s]", ylim=(len(rows) - 0.6, -0.85))
    axes.set_xlim(left=0)
    axes.set_yticks([])
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def _label(row: WhatIf) -> str:
    if row.gain is None:
        return row.cause
    sure = not row.gain.lower <= 0 <= row.gain.upper
    return f"{row.cause}: " + (f"saves {row.gain.value:.0%}" if sure else "no sure difference")


def _table(rows: tuple[WhatIf, ...]) -> Markup:
    content = [
        (
            row.cause,
            row.seconds.value,
            row.seconds.lower,
            row.seconds.upper,
            percentage(row.gain) if row.gain else "-",
            "-" if row.gap is None else row.gap,
        )
        for row in rows
    ]
    columns = ("if", "run [s]", "lower [s]", "upper [s]", "saving", "B / M of the first contender")
    return table("One cause taken away at a time", columns, content)
