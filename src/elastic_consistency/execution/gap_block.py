"""Squared gaps, a few vectors at a time: one reduction for many short vectors."""

from typing import final

import numpy as np

_CACHED = 8192  # numbers of a block, so that it stays in the first-level cache
_MOST = 64  # differences of a block


@final
class GapBlock:
    """Collects differences of (R, d) arrays and turns them into squared norms.

    Args:
        blank: (R, d) array whose shape and dtype all differences share.
    """

    __slots__ = ("_block", "_count", "_replicates", "_rows", "_size", "_taken")

    def __init__(self, blank: np.ndarray) -> None:
        self._size = max(1, min(_MOST, _CACHED // blank.size))
        self._block = np.empty((self._size, *blank.shape), blank.dtype)
        self._rows = list(self._block)
        self._replicates = len(blank)
        self._count = 0
        self._taken: list[np.ndarray] = []

    def compare(self, x: np.ndarray, view: np.ndarray) -> None:
        """Add the gap between two (R, d) arrays."""
        count = self._count
        np.subtract(x, view, self._rows[count])
        self._count = count + 1
        if self._count == self._size:
            self._reduce()

    def take(self) -> np.ndarray:
        """(K, R) float64 squared gaps since the last call."""
        if self._count:
            self._reduce()
        taken = [np.zeros((0, self._replicates)), *self._taken]
        self._taken = []
        return np.concatenate(taken)

    def _reduce(self) -> None:
        used = self._block[: self._count]
        np.multiply(used, used, used)
        self._taken.append(np.add.reduce(used, axis=-1))
        self._count = 0
