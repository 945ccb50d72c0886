"""Functions that Numba compiles at their first call, or that stay as they are without it."""

from typing import Any

try:
    from numba import njit

    import elastic_consistency.execution.programs.vector_lanes  # noqa: F401
except ImportError:  # the tests run without Numba, too

    def njit(**_options: Any) -> Any:
        """Leave functions as they are."""
        return lambda function: function


#: Decorator of functions that hold no lock of the interpreter while they run.
compiled = njit(cache=True, nogil=True, error_model="numpy")


def n_threads() -> int:
    """Threads for replicates: as many as cores, or what NUMBA_NUM_THREADS says."""
    try:
        from numba import config
    except ImportError:
        return 1
    return int(config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
