"""One source for every array library: a NumPy constant, placed beside an array in use."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

Array = Any


def like(reference: Array, values: Array) -> Array:
    """`values` with the namespace, dtype and device of `reference`.

    Nothing is copied when `values` already fits, so data that an oracle holds on the right
    device costs nothing per call.

    Args:
        reference: Array of any library with a real floating-point dtype.
        values: NumPy array, or an array of the library of `reference`.
    """
    if isinstance(reference, np.ndarray) and isinstance(values, np.ndarray):
        return values.astype(reference.dtype, copy=False)  # a tenth of the general way
    xp = array_namespace(reference)
    return xp.asarray(_writable(values), dtype=reference.dtype, device=reference.device)


def squared_norms(x: Array) -> Array:
    """(R,) squared Euclidean norms of (R, d) rows."""
    return array_namespace(x).sum(x * x, axis=-1)


def norms(x: Array) -> Array:
    """(R,) Euclidean norms of (R, d) rows, scaled so that squares neither over- nor underflow.

    A row with an infinity or a NaN has the norm infinity or NaN.
    """
    xp = array_namespace(x)
    largest = xp.max(xp.abs(x), axis=-1)
    usable = xp.isfinite(largest) & (largest > 0)
    scale = xp.where(usable, largest, xp.ones_like(largest))
    scaled = xp.where(usable[..., None], x / scale[..., None], xp.zeros_like(x))
    return xp.where(usable, scale * xp.sqrt(squared_norms(scaled)), largest)


def _writable(values: Array) -> Array:
    # torch warns about a read-only NumPy array, even where nobody writes to it.
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        return values.copy()
    return values
