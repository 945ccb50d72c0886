"""Problems that every test of oracles runs on, and their losses written anew in torch."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from elastic_consistency.optimization.oracles import (
    GemanMcClure,
    LeastSquares,
    Linear,
    LogisticRegression,
    MultilayerPerceptron,
    Quadratic,
    iid_shards,
    shards_by_label,
    sparse_rows,
)

BINARY = torch.nn.functional.binary_cross_entropy_with_logits


@dataclass(frozen=True)
class Case:
    """An oracle, its loss in torch, and how to sample it."""

    name: str
    oracle: Any
    torch_loss: Callable[[torch.Tensor], torch.Tensor]
    n_workers: int = 1

    @property
    def every_outcome(self):
        """Whether `gradients` gives all outcomes of a stochastic gradient, equally often."""
        return self.oracle.draws_per_job == 0 or getattr(self.oracle, "batch", 0) == 1

    def ball(self, n_points, radius, seed=0):
        """Points in the ball on which constants are claimed, many of them on its surface."""
        rng = np.random.default_rng(seed)
        centre = self.oracle.minimiser()
        centre = self.oracle.start() if centre is None else centre
        direction = rng.normal(size=(n_points, self.oracle.dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        length = radius * np.minimum(1, rng.uniform(0, 1.5, (n_points, 1)))
        return centre + length * direction

    def gradients(self, point, worker, n_draws=400):
        """Stochastic gradients at one point; all outcomes for a batch of one."""
        draws = np.random.default_rng(3).random((n_draws, self.oracle.draws_per_job))
        if getattr(self.oracle, "batch", 0) == 1:
            size = self.oracle.samples.populations()[worker if self.oracle.shards else 0].size
            draws = (np.arange(size)[:, None] + 0.5) / size
        return self.oracle.gradient(np.repeat(point[None], len(draws), axis=0), draws, worker)


def labelled_data(n_samples, n_features, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.3, 2, n_features)
    labels = rng.integers(0, n_classes, n_samples)
    labels[:n_classes] = np.arange(n_classes)
    return features, labels


def _softmax_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    features, labels = torch.tensor(oracle.features), torch.tensor(oracle.labels)

    def loss(x):
        logits = features @ x.reshape(features.shape[1], oracle.n_classes)
        losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        return (weights * losses).sum() + oracle.ridge / 2 * x.dot(x)

    return loss


def _binary_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    features, labels = torch.tensor(oracle.features), torch.tensor(oracle.labels)

    def loss(x):
        losses = BINARY(features @ x, labels.to(x.dtype), reduction="none")
        return (weights * losses).sum() + oracle.ridge / 2 * x.dot(x)

    return loss


def _network_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    signal_in, labels = torch.tensor(oracle.features), torch.tensor(oracle.labels)
    widths = [oracle.features.shape[1], *oracle.hidden, oracle.targets.shape[1]]

    def loss(x):
        signal, first = signal_in, 0
        for number, (rows, columns) in enumerate(pairwise(widths)):
            matrix = x[first : first + rows * columns].reshape(rows, columns)
            bias = x[first + rows * columns : first + (rows + 1) * columns]
            first += (rows + 1) * columns
            signal = torch.nn.functional.linear(signal, matrix.T, bias)
            if number < len(widths) - 2:
                signal = torch.tanh(signal)
        if oracle.n_classes == 2:
            losses = BINARY(signal[:, 0], labels.to(x.dtype), reduction="none")
        else:
            losses = torch.nn.functional.cross_entropy(signal, labels, reduction="none")
        return (weights * losses).sum() + oracle.ridge / 2 * x.dot(x)

    return loss


def _squares_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    rows, responses = torch.tensor(oracle.rows), torch.tensor(oracle.responses)

    def loss(x):
        return (weights * (rows @ x - responses) ** 2).sum() / 2 + oracle.ridge / 2 * x.dot(x)

    return loss


def _analytic():
    rng = np.random.default_rng(7)
    slope, spectrum = rng.normal(size=5), np.array([0.0, 0.3, 1.0, 2.5])
    optimum, offsets = rng.normal(size=4), rng.normal(size=(3, 4))
    offsets -= offsets.mean(axis=0)
    scales = torch.tensor(spectrum)

    def linear(x):
        return x.dot(torch.tensor(slope))

    def quadratic(x):
        return (scales * (x - torch.tensor(optimum)) ** 2).sum() / 2

    def quadratic_apart(x):
        return sum((scales * (x - torch.tensor(o)) ** 2).sum() for o in offsets) / 6

    def geman_mcclure(x):
        return (1 - 1 / (1 + x**2)).sum()

    apart = Quadratic(spectrum, 0.5, offsets=offsets)
    return (
        Case("linear", Linear(slope), linear),
        Case("linear_noisy", Linear(slope, 2.0), linear),
        Case("quadratic", Quadratic(spectrum, 0.5, optimum), quadratic),
        Case("quadratic_apart", apart, quadratic_apart, 3),
        Case("geman_mcclure", GemanMcClure(np.full(3, 2.0), 0.3), geman_mcclure),
    )


def _finite_sums():
    rng = np.random.default_rng(8)
    softmax = LogisticRegression(*labelled_data(40, 3, 4), 4, batch=3, ridge=0.1)
    by_label = shards_by_label(softmax.labels, 3)
    shards = LogisticRegression(*labelled_data(40, 3, 4), 4, 2, 0.05, by_label)
    two = LogisticRegression(*labelled_data(30, 4, 2), 2, batch=1, ridge=0.02)
    flat = LogisticRegression(*labelled_data(30, 4, 2), 2, batch=1, ridge=0.0)
    rows = sparse_rows(50, 6, 2, rng)
    squares = LeastSquares(rows, rng.normal(size=50), batch=2)
    uneven = LeastSquares(rows, rng.normal(size=50), 1, 0.3, iid_shards(50, 3, rng))
    return (
        Case("softmax", softmax, _softmax_loss(softmax)),
        Case("softmax_shards", shards, _softmax_loss(shards), 3),
        Case("binary", two, _binary_loss(two)),
        Case("binary_flat", flat, _binary_loss(flat)),
        Case("least_squares", squares, _squares_loss(squares)),
        Case("least_squares_shards", uneven, _squares_loss(uneven), 3),
    )


def _networks():
    deep = MultilayerPerceptron(*labelled_data(25, 3, 3), 3, (5, 4), batch=2, ridge=0.1)
    thin = MultilayerPerceptron(*labelled_data(25, 3, 2), 2, (4,), batch=2)
    return (
        Case("perceptron", deep, _network_loss(deep)),
        Case("perceptron_binary", thin, _network_loss(thin)),
    )


BOUNDED = (*_analytic(), *_finite_sums())  # cases whose constants are known
CASES = (*BOUNDED, *_networks())
