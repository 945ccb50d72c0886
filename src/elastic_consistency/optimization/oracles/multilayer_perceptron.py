"""A multilayer perceptron, with backpropagation written out."""

from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import like, squared_norms
from elastic_consistency.optimization.oracles.base import AbstractOracle, unknown_constants
from elastic_consistency.optimization.oracles.shards import Shards
from elastic_consistency.optimization.oracles.softmax import (
    labels_are_valid,
    log_loss,
    one_hot,
    probabilities,
)
from elastic_consistency.random_streams import Cause, uniforms

Array = Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class MultilayerPerceptron(AbstractOracle):
    """f(w) = sum_i weight_i log-loss(net_w(x_i), y_i) + ridge / 2 ||w||^2, with tanh layers.

    The parameters are, layer after layer, an (inputs, outputs) matrix and its (outputs,)
    biases. A layer of width 1 at the end stands for two classes. The loss is smooth but has no
    global L: `constants` gives what is proved, infinity for the rest and f* >= 0 as infimum;
    `estimate_constants` measures them along a trajectory.

    Attributes:
        features: (N, F) float64.
        labels: (N,) integers in [0, n_classes).
        n_classes: Number of classes, >= 2.
        hidden: Widths of the hidden layers, possibly none.
        batch: Samples of one stochastic gradient, >= 1.
        ridge: Weight of the ridge term, >= 0.
        seed: Seed of the starting weights, uniform in +-sqrt(6 / (inputs + outputs)).
        shards: Samples of each worker; None lets every worker draw from all samples.

    Source: Rumelhart, Hinton, Williams (1986), doi:10.1038/323533a0; start: Glorot, Bengio
        (2010), AISTATS.
    """

    features: np.ndarray
    labels: np.ndarray
    n_classes: int
    hidden: tuple[int, ...]
    batch: int
    ridge: float = 0.0
    seed: int = 0
    shards: Shards | None = None
    samples: Shards = field(init=False, repr=False)
    targets: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n_samples = len(self.features)
        check(self.features.ndim == 2 and n_samples > 0, self, "features", "an (N, F) array")
        check(self.n_classes >= 2, self, "n_classes", "a number of classes >= 2")
        valid = labels_are_valid(self.labels, n_samples, self.n_classes)
        check(valid, self, "labels", f"({n_samples},) integers below {self.n_classes}")
        check(all(width >= 1 for width in self.hidden), self, "hidden", "widths >= 1")
        check(self.batch >= 1, self, "batch", "a number of samples >= 1")
        check(0 <= self.ridge < np.inf, self, "ridge", "a finite number >= 0")
        fits = self.shards is None or self.shards.n_samples == n_samples
        check(fits, self, "shards", f"None or Shards of {n_samples} samples")
        object.__setattr__(self, "samples", self.shards or Shards(n_samples))
        object.__setattr__(self, "targets", one_hot(self.labels, self.n_classes))

    @property
    def dimension(self):
        return sum(prod(shape) + shape[1] for shape in self._shapes())

    @property
    def draws_per_job(self):
        return self.batch

    def start(self):
        pieces, first = [], 0
        for inputs, outputs in self._shapes():
            draws = uniforms(self.seed, Cause.DATA, -1, first, inputs * outputs)
            first += inputs * outputs
            pieces.append((2 * draws - 1) * np.sqrt(6 / (inputs + outputs)))
            pieces.append(np.zeros(outputs))
        return np.concatenate(pieces)

    def gradient(self, view, draws, worker):
        chosen = self.samples.indices(draws, worker)
        weights = np.full((self.batch, 1), 1 / self.batch)
        return self._gradient(view, self.features[chosen], self.targets[chosen], weights)

    def mean_gradient(self, x):
        return self._gradient(x, self.features, self.targets, self.samples.weights()[:, None])

    def worker_mean_gradient(self, x, worker):
        weights = self.samples.weights_of(worker)[:, None]
        return self._gradient(x, self.features, self.targets, weights)

    def loss(self, x):
        xp = array_namespace(x)
        logits = self._forward(x, like(x, self.features))[-1]
        losses = log_loss(xp, logits, like(x, self.targets))
        weighted = xp.sum(losses * like(x, self.samples.weights()), axis=-1)
        return weighted + (self.ridge / 2) * squared_norms(x)

    def minimiser(self):
        return None

    def constants(self, radius=float("inf")):
        return unknown_constants(0.0, radius, shared=len(self.samples.members) <= 1)

    def _shapes(self) -> list[tuple[int, int]]:
        widths = [self.features.shape[1], *self.hidden, self.targets.shape[1]]
        return list(pairwise(widths))

    def _layers(self, x: Array) -> list[tuple[Array, Array]]:
        """The (R, inputs, outputs) matrix and (R, 1, outputs) biases of every layer."""
        xp, first, layers = array_namespace(x), 0, []
        for inputs, outputs in self._shapes():
            middle, last = first + inputs * outputs, first + (inputs + 1) * outputs
            matrix = xp.reshape(x[:, first:middle], (x.shape[0], inputs, outputs))
            layers.append((matrix, x[:, None, middle:last]))
            first = last
        return layers

    def _forward(self, x: Array, features: Array) -> list[Array]:
        """What enters every layer, and the logits at the end."""
        xp, layers = array_namespace(x), self._layers(x)
        signals = [features]
        for number, (matrix, biases) in enumerate(layers):
            signal = xp.matmul(signals[-1], matrix) + biases
            signals.append(signal if number == len(layers) - 1 else xp.tanh(signal))
        return signals

    def _gradient(
        self, x: Array, features: np.ndarray, targets: np.ndarray, weights: np.ndarray
    ) -> Array:
        xp, layers = array_namespace(x), self._layers(x)
        signals = self._forward(x, like(x, features))
        error = (probabilities(xp, signals[-1]) - like(x, targets)) * like(x, weights)
        pieces: list[Array] = []
        for number in reversed(range(len(layers))):
            signal = signals[number]
            product = xp.matmul(xp.matrix_transpose(signal), error)
            pieces = [xp.reshape(product, (x.shape[0], -1)), xp.sum(error, axis=-2), *pieces]
            if number > 0:  # through the matrix, then through tanh, of slope 1 - tanh^2
                error = xp.matmul(error, xp.matrix_transpose(layers[number][0]))
                error = error * (1 - signal * signal)
        return xp.concat(pieces, axis=-1) + self.ridge * x
