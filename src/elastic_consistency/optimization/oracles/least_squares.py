"""Least squares, on rows that may be sparse, as in Hogwild's setting."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import like, squared_norms
from elastic_consistency.optimization.oracles.base import AbstractOracle
from elastic_consistency.optimization.oracles.finite_sum_constants import (
    FiniteSum,
    largest_eigenvalue,
)
from elastic_consistency.optimization.oracles.shards import Shards


@final
@dataclass(frozen=True, slots=True, eq=False)
class LeastSquares(AbstractOracle):
    """f(x) = 1/2 sum_i weight_i (a_i x - b_i)^2 + ridge / 2 ||x||^2.

    A stochastic gradient averages `batch` rows drawn with replacement, plus the gradient of the
    ridge term; without one it is zero outside the support of its rows. L and c are the ends of
    the spectrum of the Hessian; x* solves the normal equations. On the ball of radius r around
    x* the gradient of row i has at most the norm ||a_i|| (|a_i x* - b_i| + ||a_i|| r), from
    which sigma^2 and M^2 follow as for any finite sum. Rows are stored densely.

    Attributes:
        rows: (N, d) float64 a_i.
        responses: (N,) float64 b_i.
        batch: Rows of one stochastic gradient, >= 1.
        ridge: Weight of the ridge term, >= 0.
        shards: Rows of each worker; None lets every worker draw from all rows.
    """

    rows: np.ndarray
    responses: np.ndarray
    batch: int = 1
    ridge: float = 0.0
    shards: Shards | None = None
    samples: Shards = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n_samples = len(self.rows)
        check(self.rows.ndim == 2 and n_samples > 0, self, "rows", "an (N, d) array")
        check(self.responses.shape == (n_samples,), self, "responses", f"({n_samples},) numbers")
        check(self.batch >= 1, self, "batch", "a number of rows >= 1")
        check(0 <= self.ridge < np.inf, self, "ridge", "a finite number >= 0")
        fits = self.shards is None or self.shards.n_samples == n_samples
        check(fits, self, "shards", f"None or Shards of {n_samples} samples")
        object.__setattr__(self, "samples", self.shards or Shards(n_samples))

    @property
    def dimension(self):
        return self.rows.shape[1]

    @property
    def draws_per_job(self):
        return self.batch

    def start(self):
        return np.zeros(self.dimension)

    def gradient(self, view, draws, worker):
        chosen = self.samples.indices(draws, worker)
        rows = like(view, self.rows[chosen])
        residual = _dot(rows, view) - like(view, self.responses[chosen])
        return self._pull_back(view, rows, residual / self.batch)

    def mean_gradient(self, x):
        return self._weighted_gradient(x, self.samples.weights())

    def worker_mean_gradient(self, x, worker):
        return self._weighted_gradient(x, self.samples.weights_of(worker))

    def loss(self, x):
        residual = _dot(like(x, self.rows), x) - like(x, self.responses)
        weighted = residual * residual * like(x, self.samples.weights())
        squares = array_namespace(x).sum(weighted, axis=-1)
        return squares / 2 + (self.ridge / 2) * squared_norms(x)

    def minimiser(self):
        """(d,) x*, of least norm where there are several."""
        root = np.sqrt(self.samples.weights())[:, None]
        rows = np.vstack([root * self.rows, np.sqrt(self.ridge) * np.eye(self.dimension)])
        right = np.concatenate([root[:, 0] * self.responses, np.zeros(self.dimension)])
        return np.linalg.lstsq(rows, right, rcond=None)[0]

    def constants(self, radius=float("inf")):
        centre, shards = self.minimiser(), self.samples
        weights = [shards.weights_of(worker) for worker in range(len(shards.populations()))]
        length = np.linalg.norm(self.rows, axis=1)
        error = np.abs(self.rows @ centre - self.responses)
        reach = length * radius if np.isfinite(radius) else np.where(length > 0, np.inf, 0.0)
        finite_sum = FiniteSum(
            shards=shards,
            batch=self.batch,
            ridge=self.ridge,
            centre=centre,
            radius=radius,
            sample_bounds=length * (error + reach),
            gradients=np.stack([self._data_gradient(centre, w) for w in weights]),
            curvatures=np.array([largest_eigenvalue(self.rows, w) for w in weights]),
            curvature=largest_eigenvalue(self.rows, shards.weights()),
        )
        return finite_sum.constants(self._strong_convexity(), float(self.loss(centre[None])[0]))

    def _strong_convexity(self) -> float:
        if self.dimension > len(self.rows):
            return self.ridge
        scaled = np.sqrt(self.samples.weights())[:, None] * self.rows
        spectrum = np.linalg.eigvalsh(scaled.T @ scaled)
        rounding = 4 * self.dimension * np.finfo(np.float64).eps * spectrum[-1]
        return max(float(spectrum[0] - rounding), 0.0) + self.ridge

    def _data_gradient(self, x, weights):
        return self.rows.T @ (weights * (self.rows @ x - self.responses))

    def _weighted_gradient(self, x, weights):
        rows = like(x, self.rows)
        residual = _dot(rows, x) - like(x, self.responses)
        return self._pull_back(x, rows, residual * like(x, weights))

    def _pull_back(self, x, rows, residual):
        xp = array_namespace(x)
        product = xp.matmul(xp.matrix_transpose(rows), residual[..., None])
        return product[..., 0] + self.ridge * x


def _dot(rows, x):
    """(R, n) products of (R, n, d) or (n, d) rows with (R, d) points."""
    return array_namespace(x).matmul(rows, x[..., None])[..., 0]
