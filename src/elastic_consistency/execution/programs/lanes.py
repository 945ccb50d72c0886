"""Eight float64 side by side, as NumPy's sums have them: a vector register in compiled code.

Called as ordinary Python, lanes are a NumPy array; vector_lanes tells Numba what they are. In
both, +, - and * act on each of the eight by itself, and nothing is reordered or contracted.
"""

from typing import Any

import numpy as np

WIDTH = 8


def load(array: Any, first: int) -> Any:
    """Numbers `first` to `first + 7` of an array."""
    return array[first : first + WIDTH].copy()


def store(array: Any, first: int, values: Any) -> None:
    """Write lanes to places `first` to `first + 7`."""
    array[first : first + WIDTH] = values


def spread(value: float) -> Any:
    """The same number in every lane."""
    return np.full(WIDTH, value)


def folded(values: Any) -> Any:
    """The sum of all lanes, in the order in which NumPy adds its eight parts."""
    r0, r1, r2, r3, r4, r5, r6, r7 = values
    return ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
