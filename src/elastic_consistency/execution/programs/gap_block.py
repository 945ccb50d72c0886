"""Squared gaps, a few vectors at a time: one reduction for many short vectors."""

from typing import final

import numpy as np

from elastic_consistency.execution.programs.aligned import aligned_empty

_CACHED = 8192  # numbers of a block, so that it stays in the first-level cache
_MOST = 64  # differences of a block


@final
class GapBlock:
    """Collects differences of (R, d) arrays and turns them into squared norms.

    A loop that cannot afford a call per gap writes to `rows` itself: difference k to rows[k],
    then `reduce(k)` when all `size` rows are written and when it stops.

    Args:
        blank: (R, d) array whose shape and dtype all differences share.

    Attributes:
        rows: Arrays (R, d) for differences.
        size: Their number.
    """

    __slots__ = ("_block", "_count", "_replicates", "_taken", "rows", "size")

    def __init__(self, blank: np.ndarray) -> None:
        self.size = max(1, min(_MOST, _CACHED // blank.size))
        self._block = aligned_empty((self.size, *blank.shape), blank.dtype)
        self.rows = list(self._block)
        self._replicates = len(blank)
        self._count = 0
        self._taken: list[np.ndarray] = []

    def compare(self, x: np.ndarray, view: np.ndarray) -> None:
        """Add the gap between two (R, d) arrays."""
        np.subtract(x, view, self.rows[self._count])
        self._count += 1
        if self._count == self.size:
            self.reduce(self._count)

    def reduce(self, count: int) -> None:
        """Square and sum the first `count` differences."""
        used = self._block[:count]
        np.multiply(used, used, used)
        self._taken.append(np.add.reduce(used, axis=-1))
        self._count = 0

    def take(self) -> np.ndarray:
        """(K, R) float64 squared gaps since the last call."""
        if self._count:
            self.reduce(self._count)
        taken = [np.zeros((0, self._replicates)), *self._taken]
        self._taken = []
        return np.concatenate(taken)
