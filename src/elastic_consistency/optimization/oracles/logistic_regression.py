"""Logistic regression, binary or multiclass, on any labelled data."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import like, squared_norms
from elastic_consistency.optimization.oracles.base import AbstractOracle
from elastic_consistency.optimization.oracles.logistic_constants import logistic_constants
from elastic_consistency.optimization.oracles.newton import newton_minimiser
from elastic_consistency.optimization.oracles.shards import Shards
from elastic_consistency.optimization.oracles.softmax import (
    labels_are_valid,
    log_loss,
    one_hot,
    probabilities,
)

Array = Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class LogisticRegression(AbstractOracle):
    """f(W) = sum_i weight_i log-loss(x_i W, y_i) + ridge / 2 ||W||^2.

    Two classes use one column of weights, K > 2 classes use K columns (softmax), stored as
    the rows of a (features, columns) matrix. A stochastic gradient averages `batch` samples
    drawn with replacement, plus the gradient of the ridge term. Constants are proved in
    `logistic_constants`; the minimiser is computed to ||grad f|| <= 1e-12, within
    1e-12 / ridge of x*.

    Attributes:
        features: (N, F) float64; append a column of ones for an intercept.
        labels: (N,) integers in [0, n_classes).
        n_classes: Number of classes, >= 2.
        batch: Samples of one stochastic gradient, >= 1.
        ridge: Weight of the ridge term, >= 0; it is the strong convexity c.
        shards: Samples of each worker; None lets every worker draw from all samples.
    """

    features: np.ndarray
    labels: np.ndarray
    n_classes: int
    batch: int
    ridge: float
    shards: Shards | None = None
    samples: Shards = field(init=False, repr=False)
    targets: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n_samples = self.features.shape[0]
        check(self.features.ndim == 2 and n_samples > 0, self, "features", "an (N, F) array")
        check(bool(np.isfinite(self.features).all()), self, "features", "finite")
        check(self.n_classes >= 2, self, "n_classes", "a number of classes >= 2")
        valid = labels_are_valid(self.labels, n_samples, self.n_classes)
        check(valid, self, "labels", f"({n_samples},) integers below {self.n_classes}")
        check(self.batch >= 1, self, "batch", "a number of samples >= 1")
        check(0 <= self.ridge < np.inf, self, "ridge", "a finite number >= 0")
        fits = self.shards is None or self.shards.n_samples == n_samples
        check(fits, self, "shards", f"None or Shards of {n_samples} samples")
        object.__setattr__(self, "samples", self.shards or Shards(n_samples))
        object.__setattr__(self, "targets", one_hot(self.labels, self.n_classes))

    @property
    def dimension(self):
        return self.features.shape[1] * self.targets.shape[1]

    @property
    def draws_per_job(self):
        return self.batch

    def start(self):
        return np.zeros(self.dimension)

    def gradient(self, view, draws, worker):
        chosen = self.samples.indices(draws, worker)
        features = like(view, self.features[chosen])
        residual = self._residual(view, features, like(view, self.targets[chosen]))
        return self._pull_back(view, features, residual / self.batch)

    def mean_gradient(self, x):
        return self._weighted_gradient(x, self.samples.weights())

    def worker_mean_gradient(self, x, worker):
        return self._weighted_gradient(x, self.samples.weights_of(worker))

    def loss(self, x):
        xp = array_namespace(x)
        logits = self._logits(x, like(x, self.features))
        losses = log_loss(xp, logits, like(x, self.targets))
        weighted = xp.sum(losses * like(x, self.samples.weights()), axis=-1)
        return weighted + (self.ridge / 2) * squared_norms(x)

    def hessian_product(self, x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """(d,) Hessian of f at (d,) `x` times (d,) `vector`; NumPy only."""
        shape = (self.features.shape[1], self.targets.shape[1])
        probability = probabilities(np, self.features @ x.reshape(shape))
        moved = self.features @ vector.reshape(shape)
        if self.n_classes == 2:
            bent = probability * (1 - probability) * moved
        else:
            bent = probability * (moved - (probability * moved).sum(axis=-1, keepdims=True))
        product = self.features.T @ (self.samples.weights()[:, None] * bent)
        return product.reshape(-1) + self.ridge * vector

    def minimiser(self):
        """(d,) x*; None without a ridge, when no minimiser need exist."""
        return _solve(self).copy() if self.ridge else None

    def constants(self, radius=float("inf")):
        minimiser = self.minimiser()
        return logistic_constants(self, self.start() if minimiser is None else minimiser, radius)

    def _weighted_gradient(self, x, weights):
        features = like(x, self.features)
        residual = self._residual(x, features, like(x, self.targets))
        return self._pull_back(x, features, like(x, weights[:, None]) * residual)

    def _logits(self, x, features):
        weights = array_namespace(x).reshape(x, (x.shape[0], *self._shape()))
        return array_namespace(x).matmul(features, weights)

    def _residual(self, x, features, targets):
        return probabilities(array_namespace(x), self._logits(x, features)) - targets

    def _pull_back(self, x, features, residual):
        xp = array_namespace(x)
        product = xp.matmul(xp.matrix_transpose(features), residual)
        return xp.reshape(product, x.shape) + self.ridge * x

    def _shape(self):
        return self.features.shape[1], self.targets.shape[1]


@lru_cache(maxsize=8)
def _solve(oracle: LogisticRegression) -> np.ndarray:
    def gradient(point: np.ndarray) -> np.ndarray:
        return oracle.mean_gradient(point[None])[0]

    return newton_minimiser(gradient, oracle.hessian_product, oracle.start())
