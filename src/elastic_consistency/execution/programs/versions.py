"""Versions: how often each replica had been written at any row."""

from typing import final

import numpy as np


@final
class Occurrences:
    """Rows of one kind, found by replica.

    Args:
        rows: (K,) int64, increasing.
        replica: (K,) of each row.
        n_rows: Of the schedule.
    """

    def __init__(self, rows: np.ndarray, replica: np.ndarray, *, n_rows: int) -> None:
        self.rows, self.count = rows, len(rows)
        self._stride = n_rows + 1
        keys = self._key(replica, rows)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._replica = np.append(replica, -1)
        self._positions = np.append(self._order, self.count)

    def _key(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        return replica.astype(np.int64) * self._stride + row

    def before(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Position of the last one at each replica before each row; -1 for none."""
        place = np.searchsorted(self._keys, self._key(replica, row)) - 1
        found = self._positions[place]
        return np.where((place >= 0) & (self._replica[found] == replica), found, -1)

    def after(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Position of the first one at each replica from each row on; K for none."""
        found = self._positions[np.searchsorted(self._keys, self._key(replica, row))]
        return np.where(self._replica[found] == replica, found, self.count)
