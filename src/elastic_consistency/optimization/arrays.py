"""One source for every array library: a NumPy constant, placed beside an array in use."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

Array = Any


def like(reference: Array, values: Array) -> Array:
    """`values` with the namespace, dtype and device of `reference`.

    Nothing is copied when `values` already fits, so data that an oracle holds on the right
    device costs nothing per call.

    Args:
        reference: Array of any library with a real floating-point dtype.
        values: NumPy array, or an array of the library of `reference`.
    """
    xp = array_namespace(reference)
    return xp.asarray(_writable(values), dtype=reference.dtype, device=device(reference))


def indices_like(reference: Array, values: np.ndarray) -> Array:
    """(count,) int64 `values` flattened, in the namespace and on the device of `reference`."""
    xp = array_namespace(reference)
    flat = _writable(values.reshape(-1).astype(np.int64))
    return xp.asarray(flat, device=device(reference))


def squared_norms(x: Array) -> Array:
    """(R,) squared Euclidean norms of (R, d) rows."""
    return array_namespace(x).sum(x * x, axis=-1)


def _writable(values: Array) -> Array:
    # torch warns about a read-only NumPy array, even where nobody writes to it.
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        return values.copy()
    return values
