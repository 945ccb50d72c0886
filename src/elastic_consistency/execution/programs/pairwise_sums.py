"""Sums in NumPy's own order: halves, down to 128 numbers, each in eight interleaved parts."""

import numpy as np

from elastic_consistency.execution.programs.compilation import compiled
from elastic_consistency.execution.programs.lanes import WIDTH, folded, load

_LEAF = 128  # NumPy's length of one unrolled sum
STACK = 64  # partial sums kept at a time: one a halving, more than any memory holds


def leaves_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    """How NumPy's pairwise sum cuts n numbers: where leaves begin, and merges after each.

    Each half is cut again until 128 numbers are left; the first half has a multiple of 8.
    """
    starts, merges = [0], [0]

    def cut(first: int, length: int) -> None:
        if length <= _LEAF:
            starts.append(first + length)
            merges.append(0)
            return
        middle = length // 2
        middle -= middle % WIDTH
        cut(first, middle)
        cut(first + middle, length - middle)
        merges[-1] += 1

    cut(0, n)
    return np.array(starts), np.array(merges[1:])


@compiled
def merge(stack, top, total, merges):
    """Push a leaf's sum and add up the halves that are complete; the new height."""
    stack[top] = total
    for _ in range(merges):
        stack[top - 1] = stack[top - 1] + stack[top]
        top -= 1
    return top + 1


@compiled
def whole_lanes(first, last):
    """Where the numbers of a leaf end that fill all lanes."""
    return last - (last - first) % WIDTH


@compiled
def _leaf_sum(a, first, last):
    total, end = 0.0, whole_lanes(first, last)
    if end > first:
        parts = load(a, first)
        for i in range(first + WIDTH, end, WIDTH):
            parts = parts + load(a, i)
        total = folded(parts)
    for i in range(end, last):
        total += a[i]
    return total


@compiled
def _leaf_distance(x, y, first, last):
    total, end = 0.0, whole_lanes(first, last)
    if end > first:
        gap = load(x, first) - load(y, first)
        parts = gap * gap
        for i in range(first + WIDTH, end, WIDTH):
            gap = load(x, i) - load(y, i)
            parts = parts + gap * gap
        total = folded(parts)
    for i in range(end, last):
        total += (x[i] - y[i]) * (x[i] - y[i])
    return total


@compiled
def sum_of(a, starts, merges, stack):
    """The sum of an array, as np.add.reduce forms it."""
    top = 0
    for k in range(len(merges)):
        top = merge(stack, top, _leaf_sum(a, starts[k], starts[k + 1]), merges[k])
    return stack[0]


@compiled
def squared_distance(x, y, starts, merges, stack):
    """Sum of (x - y)^2."""
    top = 0
    for k in range(len(merges)):
        top = merge(stack, top, _leaf_distance(x, y, starts[k], starts[k + 1]), merges[k])
    return stack[0]
