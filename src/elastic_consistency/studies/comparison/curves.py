"""Loss over time as a band: the mean of all runs, and where most of them are."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.studies.comparison.runs import LossRun

_POINTS = 160


@final
@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Suboptimality of all runs of one contender on a grid; G points.

    Attributes:
        x: (G,) seconds, or gradients.
        mean: (G,) mean over runs.
        lower: (G,) 5th percentile of the runs.
        upper: (G,) 95th percentile of the runs.
    """

    x: np.ndarray
    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def band_over_time(runs: list[LossRun], infimum: float) -> Band:
    """f(x) - f* against seconds."""
    return _band([run.time_s for run in runs], runs, infimum)


def band_over_gradients(runs: list[LossRun], infimum: float) -> Band:
    """f(x) - f* against gradients that the model has taken in."""
    return _band([run.gradients for run in runs], runs, infimum)


def _band(axes: list[np.ndarray], runs: list[LossRun], infimum: float) -> Band:
    first = min((axis[axis > 0].min() for axis in axes if axis[-1] > 0), default=1.0)
    last = max(first, min(axis[-1] for axis in axes))
    grid = np.geomspace(first, last, _POINTS)
    columns = []
    for axis, run in zip(axes, runs, strict=True):
        # The loss is a step function: between two looks the last one counts.
        seen = np.searchsorted(axis, grid * (1 + 1e-12), side="right") - 1
        columns.append(run.loss[seen] - infimum)
    every = np.concatenate(columns, axis=1)
    with np.errstate(invalid="ignore"):  # runs that diverge have infinite losses
        lower, upper = np.quantile(every, [0.05, 0.95], axis=1)
    return Band(grid, every.mean(axis=1), lower, upper)
