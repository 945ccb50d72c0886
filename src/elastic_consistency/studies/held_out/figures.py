"""What a prediction is about: step time, staleness and gap while all workers are at work."""

from dataclasses import dataclass, fields
from typing import final

import numpy as np

from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.held_out.job_times import JobTimes, job_times
from elastic_consistency.validation.gaps import view_difference

_SEQUENCES = {
    "server": Sequence.APPLIED,
    "all-reduce": Sequence.AGGREGATE,
    "pairwise": Sequence.STARTED,
    "hogwild": Sequence.STARTED,
}


@final
@dataclass(frozen=True, slots=True)
class Figures:
    """From each worker's first finished gradient on, until one of them has finished its last.

    Before that, processes warm up; after that, some workers are done and the others alone.

    Attributes:
        step_s: Seconds a gradient, over all workers.
        staleness: Mean staleness of the updates that were added, steps.
        gap: B / sigma for gradients that are independent noise of variance sigma^2: root mean
            square over the views. To the applied sequence at a server, to the aggregate of
            whole rounds with all-reduce, to the started sequence elsewhere.
    """

    step_s: float
    staleness: float
    gap: float

    def named(self) -> dict[str, float]:
        """The figures with their units."""
        names = ("time per gradient [s]", "mean staleness [steps]", "B / sigma, rms over views")
        values = (getattr(self, field.name) for field in fields(self))
        return dict(zip(names, values, strict=True))


def figures_of(schedule: Schedule, protocol: str) -> Figures:
    """The figures of a schedule, live or simulated.

    Raises:
        ValueError: If there is no time at which all workers are at work.
    """
    times = job_times(schedule)
    begin, end = _window(times, schedule.metadata.n_workers)
    finished = (times.encode > begin) & (times.encode <= end)
    stale = schedule.staleness()
    when = schedule.rows.time[stale.row]
    steps = stale.steps[(when > begin) & (when <= end)]
    difference = view_difference(schedule, _SEQUENCES[protocol])[finished]
    squares = (difference**2).max(axis=1).sum(axis=-1)
    return Figures(
        step_s=(end - begin) / int(finished.sum()),
        staleness=float(steps.mean()) if len(steps) else 0.0,
        gap=float(np.sqrt(squares.mean())),
    )


def _window(times: JobTimes, n_workers: int) -> tuple[float, float]:
    ends = [times.encode[times.of(worker)] for worker in range(n_workers)]
    if all(len(own) for own in ends):
        begin, end = max(own[0] for own in ends), min(own[-1] for own in ends)
        if begin < end:
            return float(begin), float(end)
    raise ValueError("gradients must be so many that all workers are at work at a time; give more.")
