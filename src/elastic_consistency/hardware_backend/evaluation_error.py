"""Rounding errors of one stochastic gradient, for oracles on which they are worked out."""

from typing import final

import numpy as np

from elastic_consistency.optimization.oracles import AbstractOracle, Linear, Quadratic

# Roundings that one coordinate meets: the constants (spectrum, optimum, offset, noise), two
# subtractions, one product, one sum.
_ROUNDINGS = 8


@final
class EvaluationError:
    """Bounds ||G_computed(v_computed) - G(v)|| by L e + gamma_8 (||G|| + 2 ||terms||).

    A coordinate is s (v - x* - o) + noise, each constant rounded once, each operation once. Its
    error is at most gamma_8 (s (|v| + |x*| + |o|) + |noise|), and
    |noise| <= |G| + s (|v| + |x*| + |o|).

    Args:
        oracle: The oracle.
        unit: Unit roundoff u.

    Raises:
        TypeError: If the oracle's errors are not worked out.
    """

    def __init__(self, oracle: AbstractOracle, unit: float) -> None:
        if not isinstance(oracle, Linear | Quadratic):
            raise TypeError(
                f"rounding_bound knows Linear and Quadratic, got {type(oracle).__name__}."
            )
        self._oracle = oracle
        self._gamma = _ROUNDINGS * unit / (1 - _ROUNDINGS * unit)

    def bound(
        self,
        view: np.ndarray,
        gradient: np.ndarray,
        worker: int,
        first: int,
        last: int,
        error: np.ndarray,
    ) -> np.ndarray:
        """(R,) bound for parameters `first` to `last`.

        Args:
            view: (R, d) exact view v.
            gradient: (R, d) exact stochastic gradient G(v).
            worker: Who computes.
            first: First parameter.
            last: Parameter after the last one.
            error: (R,) bound on the error of that part of the view.
        """
        part = slice(first, last)
        terms, smoothness = self._terms(view[:, part], worker, part)
        sizes = np.linalg.norm(gradient[:, part], axis=-1) + 2 * np.linalg.norm(terms, axis=-1)
        return smoothness * error + self._gamma * (sizes + 2 * smoothness * error)

    def _terms(self, view: np.ndarray, worker: int, part: slice) -> tuple[np.ndarray, float]:
        oracle = self._oracle
        if isinstance(oracle, Linear):
            return np.abs(np.broadcast_to(oracle.slope[part], view.shape)), 0.0
        size = np.abs(view)
        if oracle.optimum is not None:
            size = size + np.abs(oracle.optimum[part])
        if oracle.offsets is not None:
            size = size + np.abs(oracle.offsets[worker][part])
        spectrum = oracle.spectrum[part]
        return spectrum * size, float(spectrum.max())
