"""Versions: how often each replica had been stepped at any row."""

from typing import final

import numpy as np

from elastic_consistency.schedule import Op, Schedule


@final
class Versions:
    """STEP rows, ordered by replica and row.

    Version 0 is the first model, which all replicas share; version k + 1 is made by the k-th
    STEP row of the schedule, whichever replica it belongs to.

    Args:
        schedule: A schedule without MIX rows.

    Attributes:
        rows: (K,) int64 numbers of the STEP rows.
        count: K.
        replica: (K,) int64 replica of each STEP.
    """

    def __init__(self, schedule: Schedule) -> None:
        table = schedule.rows
        self.rows = np.flatnonzero(table.op == Op.STEP)
        self.count = len(self.rows)
        self.replica = table.replica[self.rows].astype(np.int64)
        self._n_replicas = len(schedule.metadata.hosts)
        self._stride = len(table) + 1
        keys = self._key(self.replica, self.rows)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def _key(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        return replica.astype(np.int64) * self._stride + row

    def current(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Version of each replica just before each row."""
        place = np.searchsorted(self._keys, self._key(replica, row)) - 1
        step = self._order[np.maximum(place, 0)] if self.count else np.zeros(len(place), np.int64)
        known = place >= 0
        if self.count:
            known &= self.replica[step] == replica
        return np.where(known, step + 1, 0)

    def next_step(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Which STEP, counted over all replicas, comes next at each replica; K for none."""
        place = np.searchsorted(self._keys, self._key(replica, row))
        step = np.append(self._order, self.count)[place]
        known = np.append(self.replica, -1)[step] == replica
        return np.where(known, step, self.count)

    def last(self) -> tuple[int, ...]:
        """Version of each replica at the end."""
        end = np.full(self._n_replicas, self._stride - 1)
        return tuple(self.current(np.arange(self._n_replicas), end).tolist())
