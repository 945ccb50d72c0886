"""Staleness of all updates of several schedules, and of every worker."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.summaries.schedule_summary import staleness_by_worker
from elastic_consistency.validation import Estimate, mean_over_timing


@final
@dataclass(frozen=True, slots=True, eq=False)
class StalenessFigures:
    """Staleness in steps, exact for each schedule.

    Attributes:
        mean: Mean over updates, averaged over the timing law; None with a single schedule.
        p99: 99th percentile of all updates of all schedules.
        largest: Largest of all.
        largest_in_flight: c_jobs, the most other jobs read and not yet applied at a read.
        edges: (B + 1,) edges of the bins; bin k counts edges[k] <= staleness < edges[k + 1].
        counts: (workers, B) updates of each worker in each bin.
    """

    mean: Estimate | None
    p99: float
    largest: int
    largest_in_flight: int
    edges: np.ndarray
    counts: np.ndarray


def staleness_figures(
    schedules: list[Schedule], *, confidence: float, seed: int
) -> StalenessFigures:
    """The figures of at least one schedule of one protocol and one number of workers."""
    by_schedule = [staleness_by_worker(schedule) for schedule in schedules]
    every = np.concatenate([steps for workers in by_schedule for steps in workers])
    largest = int(every.max(initial=0))
    edges = _edges(largest)
    n_workers = schedules[0].metadata.n_workers
    counts = np.stack(
        [
            np.histogram(np.concatenate([workers[w] for workers in by_schedule]), edges)[0]
            for w in range(n_workers)
        ]
    )
    return StalenessFigures(
        mean=_mean(by_schedule, confidence, seed),
        p99=float(np.quantile(every, 0.99)) if len(every) else 0.0,
        largest=largest,
        largest_in_flight=max(int(s.in_flight().max(initial=0)) for s in schedules),
        edges=edges,
        counts=counts,
    )


def _edges(largest: int) -> np.ndarray:
    """0, 1, 2, 3, 4, 6, 8, 12, ...: two bins an octave, until `largest` is inside."""
    edges = [0, 1, 2, 3]
    while edges[-1] <= largest:
        edges.append(edges[-2] * 2)
    return np.array(edges)


def _mean(
    by_schedule: list[tuple[np.ndarray, ...]], confidence: float, seed: int
) -> Estimate | None:
    if len(by_schedule) < 2:
        return None
    means = np.array([[np.concatenate(workers).mean()] for workers in by_schedule])
    return mean_over_timing(means, confidence=confidence, seed=seed)
