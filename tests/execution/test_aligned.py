"""Arrays for fast loops begin at a cache line."""

import numpy as np
import pytest

from elastic_consistency.execution.programs.aligned import aligned_empty


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 3, 7)])
def test_aligned_arrays_begin_at_a_cache_line(shape, dtype):
    # Several at a time: one alone could be aligned by chance.
    arrays = [aligned_empty(shape, dtype) for _ in range(8)]

    assert all(array.shape == shape and array.dtype == dtype for array in arrays)
    assert all(array.ctypes.data % 64 == 0 for array in arrays)
    assert all(array.flags.c_contiguous and array.flags.writeable for array in arrays)
