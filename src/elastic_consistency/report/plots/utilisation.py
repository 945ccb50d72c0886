"""Where every worker's time goes."""

from collections.abc import Sequence

import numpy as np

from elastic_consistency.report.drawing import (
    FIRST,
    GRID,
    SECOND,
    SOFT,
    THIRD,
    Figure,
    canvas,
    png_of,
    svg_of,
)
from elastic_consistency.report.markup import Markup, table
from elastic_consistency.report.plots.subject import Subject
from elastic_consistency.studies.summaries.schedule_summary import WorkerSummary

_PHASES = (("compute", FIRST), ("pull", THIRD), ("wait", SECOND), ("idle", GRID))


def utilisation(contenders: Sequence[Subject]) -> Figure:
    """Share of the run that each worker computes, pulls, waits and idles."""
    alternative = " ".join(_words(contender) for contender in contenders)
    name = "utilisation"
    workers = max(contender.summary.n_workers for contender in contenders)
    with canvas(len(contenders), height=1.0 + 0.16 * workers) as (drawing, panels):
        for axes, contender in zip(panels, contenders, strict=True):
            _draw(axes, contender)
        panels[0].set_ylabel("worker")
        handles, labels = panels[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside upper left", ncols=4, columnspacing=1)
        svg = svg_of(drawing, name, alternative)
        png = png_of(drawing)
    return Figure(
        name=name,
        title="Utilisation and waits",
        caption="compute: a gradient; pull: the model travels to the worker; wait: the update "
        "travels, and in synchronous training waits for the slowest; first schedule of each.",
        alternative=alternative,
        svg=svg,
        png=png,
        data=_table(contenders),
    )


def _draw(axes, contender: Subject) -> None:
    workers = contender.summary.workers
    left = np.zeros(len(workers))
    shares = np.array([_shares(worker) for worker in workers])
    for k, (phase, colour) in enumerate(_PHASES):
        edge = SOFT if phase == "idle" else "none"
        axes.barh(
            range(len(workers)), shares[:, k], left=left, color=colour, label=phase, height=0.8,
            edgecolor=edge, linewidth=0.3,
        )  # fmt: skip
        left += shares[:, k]
    axes.set(xlim=(0, 1), xlabel="share of the run", title=contender.name)
    axes.set_ylim(len(workers) - 0.4, -0.6)
    axes.set_yticks(range(len(workers)))
    axes.grid(visible=False, axis="y")


def _shares(worker: WorkerSummary) -> tuple[float, ...]:
    seconds = (worker.compute_s, worker.pull_s, worker.wait_s, worker.idle_s)
    whole = sum(seconds) or 1.0
    return tuple(value / whole for value in seconds)


def _words(contender: Subject) -> str:
    shares = [worker.utilisation for worker in contender.summary.workers]
    return (
        f"With {contender.name} training a worker computes {min(shares):.0%} to {max(shares):.0%} "
        f"of the time, {np.mean(shares):.0%} on average."
    )


def _table(contenders: Sequence[Subject]) -> Markup:
    rows = [
        (
            contender.name,
            worker.worker,
            worker.jobs,
            worker.pull_s,
            worker.compute_s,
            worker.wait_s,
            worker.idle_s,
            100 * worker.utilisation,
        )
        for contender in contenders
        for worker in contender.summary.workers
    ]
    columns = ("contender", "worker", "jobs", "pull [s]", "compute [s]", "wait [s]", "idle [s]")
    return table("Time of each worker", (*columns, "utilisation [%]"), rows)
