"""Unions of intervals of time."""

from array import array

import numpy as np


def union(spans: "array[float]") -> np.ndarray:
    """(K, 2) begin and end of disjoint intervals in growing order, with the same points.

    Args:
        spans: Begin and end of intervals in turn, in any order; they may overlap.
    """
    given = np.frombuffer(spans).reshape(-1, 2)
    if not len(given):
        return np.empty((0, 2))
    if (given[1:, 0] < given[:-1, 0]).any():  # a sorted copy of a long trace costs memory
        given = given[np.argsort(given[:, 0], kind="stable")]
    begin, end = given.T
    reach = np.maximum.accumulate(end)
    first = np.flatnonzero(np.concatenate([[True], begin[1:] > reach[:-1]]))
    last = np.concatenate([first[1:] - 1, [len(begin) - 1]])
    return np.stack([begin[first], reach[last]], axis=1)


def covered(disjoint: np.ndarray, begin: float, end: float) -> float:
    """How much of [begin, end] the intervals of a `union` cover.

    Args:
        disjoint: (K, 2) from `union`.
        begin: Start of the window.
        end: End of the window, >= begin.
    """
    low = np.searchsorted(disjoint[:, 1], begin, side="right")
    high = np.searchsorted(disjoint[:, 0], end, side="left")
    inside = np.clip(disjoint[low:high], begin, end)
    return float((inside[:, 1] - inside[:, 0]).sum())
