"""Holding rows until their time, so that a schedule's delays happen for real."""

import time
from typing import final

import numpy as np

from elastic_consistency.hardware_backend.processes.rank_process import Progress

_NAP = 0.2  # s, the longest sleep between two signs of life


@final
class Pacer:
    """A clock that starts when it is made, on all ranks at nearly the same moment.

    Args:
        times: (E,) time of each row, s of the schedule.
        pace: Seconds of real time for one second of the schedule; 0 never waits.
        progress: Where the rank stands.
    """

    def __init__(self, times: np.ndarray, pace: float, progress: Progress) -> None:
        self._times, self._pace, self._progress = times, pace, progress
        self._begin = time.monotonic()
        self.lateness = np.full(len(times), np.nan)

    def await_row(self, row: int, *, due: bool = False) -> None:
        """Sleep until a row is due; with `due`, note how late it is. Row -1 is always due."""
        if self._pace == 0 or row < 0:
            return
        moment = self._begin + self._pace * self._times[row]
        while (left := moment - time.monotonic()) > 0:
            self._progress.waiting = True
            time.sleep(min(left, _NAP))
            self._progress.naps += 1
        self._progress.waiting = False
        if due:
            self.lateness[row] = time.monotonic() - moment
