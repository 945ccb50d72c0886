"""Real data small enough for minutes: problems that several rows train on."""

from functools import lru_cache

import numpy as np

from elastic_consistency.optimization.oracles import (
    LogisticRegression,
    MultilayerPerceptron,
    digits,
    mnist,
)

HIDDEN = 32


@lru_cache(maxsize=4)
def digits_regression(batch: int = 16) -> LogisticRegression:
    """Multinomial logistic regression on 1797 digits, d = 650."""
    data = digits()
    return LogisticRegression(data.features, data.labels, data.n_classes, batch, ridge=1e-3)


@lru_cache(maxsize=4)
def digits_network(batch: int = 16) -> MultilayerPerceptron:
    """One hidden layer of 32 on 1797 digits, d = 2442."""
    data = digits()
    return MultilayerPerceptron(data.features, data.labels, data.n_classes, (HIDDEN,), batch)


@lru_cache(maxsize=4)
def mnist_network(batch: int = 16) -> MultilayerPerceptron:
    """One hidden layer of 32 on 5000 MNIST images, d = 25482."""
    data = mnist()
    return MultilayerPerceptron(data.features, data.labels, data.n_classes, (HIDDEN,), batch)


def accuracy(oracle: MultilayerPerceptron, models: np.ndarray) -> np.ndarray:
    """(R,) part of the samples that (R, d) models with one hidden layer classify rightly."""
    inputs, classes = oracle.features.shape[1], oracle.n_classes
    ends = np.cumsum((inputs * HIDDEN, HIDDEN, HIDDEN * classes, classes))
    found = []
    for row in models:
        w1, b1, w2, b2 = np.split(row, ends[:-1])
        hidden = np.tanh(oracle.features @ w1.reshape(inputs, HIDDEN) + b1)
        guess = (hidden @ w2.reshape(HIDDEN, classes) + b2).argmax(axis=1)
        found.append(float((guess == oracle.labels).mean()))
    return np.array(found)
