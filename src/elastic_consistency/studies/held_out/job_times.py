"""When each job of a recorded schedule was read, begun, finished, added and dropped."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule import Op, Schedule


@final
@dataclass(frozen=True, slots=True, eq=False)
class JobTimes:
    """One entry a job, s; NaN where it never happened.

    Attributes:
        worker: (J,) int, whose job it is.
        read: (J,) first READ.
        whole: (J,) last READ: from here on the view is whole.
        begin: (J,) begin of the computation.
        encode: (J,) end of the computation.
        add: (J,) first ADD of the job itself.
        step: (J,) last STEP after an ADD of the job itself.
        drop: (J,) DROP.
    """

    worker: np.ndarray
    read: np.ndarray
    whole: np.ndarray
    begin: np.ndarray
    encode: np.ndarray
    add: np.ndarray
    step: np.ndarray
    drop: np.ndarray

    def of(self, worker: int) -> np.ndarray:
        """Numbers of a worker's finished jobs, in its order."""
        own = np.flatnonzero((self.worker == worker) & np.isfinite(self.encode))
        return own[np.argsort(self.encode[own], kind="stable")]


def job_times(schedule: Schedule) -> JobTimes:
    """The times of every job of `schedule`."""
    rows = schedule.rows
    added = np.flatnonzero((rows.op == Op.ADD) & (rows.job >= 0))
    # The STEP that uses an ADD follows it at once.
    stepped = added[np.append(rows.op, -1)[added + 1] == Op.STEP]
    return JobTimes(
        schedule.jobs.worker,
        _times(schedule, np.flatnonzero(rows.op == Op.READ)[::-1]),
        _times(schedule, np.flatnonzero(rows.op == Op.READ)),
        schedule.jobs.begin,
        _times(schedule, np.flatnonzero(rows.op == Op.ENCODE)),
        _times(schedule, added[::-1]),
        _times(schedule, stepped, later=1),
        _times(schedule, np.flatnonzero((rows.op == Op.DROP) & (rows.job >= 0))),
    )


def _times(schedule: Schedule, rows: np.ndarray, *, later: int = 0) -> np.ndarray:
    """(J,) time of the last of these rows that names each job, s."""
    found = np.full(len(schedule.jobs), np.nan)
    found[schedule.rows.job[rows]] = schedule.rows.time[rows + later]
    return found
