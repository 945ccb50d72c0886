"""Rows with few entries, and the numbers by which Hogwild's theorem measures them."""

from dataclasses import dataclass
from typing import final

import numpy as np


@final
@dataclass(frozen=True, slots=True)
class Sparsity:
    """How often sparse rows meet.

    Attributes:
        row_size: Omega, most non-zero entries of a row.
        column_frequency: Delta, largest share of the rows that touch one column.
        conflict_rate: rho, largest share of the rows that share a column with one row, itself
            included.

    Source: Niu, Recht, Re, Wright (2011), arXiv:1106.5730, section 3.
    """

    row_size: int
    column_frequency: float
    conflict_rate: float


def measure_sparsity(rows: np.ndarray) -> Sparsity:
    """The three numbers of (N, d) `rows`."""
    touched = (rows != 0).astype(np.float64)
    conflicts = touched @ touched.T > 0
    return Sparsity(
        row_size=int(touched.sum(axis=1).max()),
        column_frequency=float(touched.mean(axis=0).max()),
        conflict_rate=float(conflicts.mean(axis=1).max()),
    )


def sparse_rows(n_samples: int, d: int, row_size: int, rng: np.random.Generator) -> np.ndarray:
    """(n_samples, d) rows of norm about 1, each with `row_size` normal entries.

    Args:
        n_samples: Number of rows.
        d: Number of columns.
        row_size: Non-zero entries of a row, in [1, d].
        rng: Where positions and values come from.

    Raises:
        ValueError: If `row_size` lies outside [1, d].
    """
    if not 1 <= row_size <= d:
        raise ValueError(f"sparse_rows.row_size must be in [1, {d}], got {row_size!r}.")
    columns = np.argsort(rng.random((n_samples, d)), axis=1)[:, :row_size]
    rows = np.zeros((n_samples, d))
    values = rng.standard_normal((n_samples, row_size)) / np.sqrt(row_size)
    np.put_along_axis(rows, columns, values, axis=1)
    return rows
