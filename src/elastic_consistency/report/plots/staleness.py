"""Staleness histograms, one row a worker."""

import numpy as np

from elastic_consistency.report.drawing import FIRST, INK, Figure, canvas, png_of, svg_of
from elastic_consistency.report.markup import Markup, table
from elastic_consistency.report.plots.subject import Subject


def staleness_by_worker(contender: Subject) -> Figure | None:
    """Share of each worker's updates by staleness; None where nothing is ever stale."""
    figures = contender.staleness
    if figures.largest == 0:
        return None
    counts = figures.counts
    used = np.flatnonzero(counts.sum(axis=0))
    first, last = int(used[0]), int(used[-1]) + 1
    shares = counts[:, first:last] / np.maximum(1, counts.sum(axis=1, keepdims=True))
    labels = [_bin_label(figures.edges, k) for k in range(first, last)]
    alternative = _alternative(contender, shares, labels)
    name = "staleness-by-worker"
    with canvas(height=0.8 + 0.16 * len(shares)) as (drawing, (axes,)):
        _draw(axes, shares, labels)
        svg = svg_of(drawing, name, alternative)
        png = png_of(drawing)
    return Figure(
        name=name,
        title=f"Staleness by worker, {contender.name}",
        caption="Each row is the histogram of one worker: the stronger the colour of a bin, the "
        f"more of its updates were that stale. All {len(contender.digests)} schedules together.",
        alternative=alternative,
        svg=svg,
        png=png,
        data=_table(counts[:, first:last], labels),
    )


def _draw(axes, shares: np.ndarray, labels: list[str]) -> None:
    from matplotlib.patches import Rectangle

    for worker, row in enumerate(shares):
        for k, share in enumerate(row):
            if share > 0:
                box = Rectangle((k, worker - 0.45), 0.96, 0.9, facecolor=FIRST)
                box.set_alpha(0.12 + 0.88 * float(share))
                axes.add_patch(box)
    axes.set(xlim=(0, len(labels)), ylim=(len(shares) - 0.5, -0.5))
    axes.set(xlabel="staleness [steps]", ylabel="worker")
    axes.grid(visible=False)
    axes.set_xticks(np.arange(len(labels)) + 0.48, labels, rotation=60, ha="right")
    axes.set_yticks(range(len(shares)))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.xaxis.label.set_color(INK)


def _bin_label(edges: np.ndarray, k: int) -> str:
    low, high = int(edges[k]), int(edges[k + 1]) - 1
    return str(low) if low == high else f"{low}-{high}"


def _alternative(contender: Subject, shares: np.ndarray, labels: list[str]) -> str:
    usual = [labels[int(row.argmax())] for row in shares]
    parts = [f"worker {w}: {label}" for w, label in enumerate(usual)]
    return (
        f"Most frequent staleness of {contender.name} in steps, by worker: "
        + ", ".join(parts)
        + "."
    )


def _table(counts: np.ndarray, labels: list[str]) -> Markup:
    rows = [(worker, *(int(count) for count in row)) for worker, row in enumerate(counts)]
    return table("Number of updates by staleness in steps", ("worker", *labels), rows)
