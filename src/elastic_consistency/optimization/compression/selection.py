"""Selecting the largest entries of a row, with a stated rule for ties."""

from typing import Any

from array_api_compat import array_namespace

Array = Any


def largest_entries(scores: Array, count: int) -> Array:
    """(R, d) booleans, true at the `count` largest scores of each row.

    Among equal scores the lowest index wins; NaN counts as the largest score of all.

    Args:
        scores: (R, d) real numbers.
        count: Entries to select, from 1 to d.
    """
    xp = array_namespace(scores)
    if count == scores.shape[-1]:
        return xp.ones_like(scores, dtype=xp.bool)
    infinity = xp.full_like(scores, xp.inf)
    scores = xp.where(xp.isnan(scores), infinity, scores)
    threshold = xp.sort(scores, axis=-1, stable=False)[..., -count][..., None]
    above, level = scores > threshold, scores == threshold
    wanted = count - xp.sum(xp.astype(above, xp.int64), axis=-1, keepdims=True)
    return above | (level & (xp.cumulative_sum(xp.astype(level, xp.int64), axis=-1) <= wanted))
