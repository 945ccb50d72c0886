"""The convolutional network of the energy matching paper, with backpropagation written out."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, final

import numpy as np

from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.oracles.base import unknown_constants
from elastic_consistency.random_streams import Cause, uniforms

Array = np.ndarray
_SHAPES = (
    (25, 10),
    (10,),
    (250, 20),
    (20,),
    (320, 300),
    (300,),
    (300, 200),
    (200,),
    (200, 10),
    (10,),
)
_CHUNK = 500  # images of one evaluation of the whole loss


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConvolutionalNetwork(AbstractOracle):
    """conv 5x5 (10) - pool - ReLU - conv 5x5 (20) - dropout - pool - ReLU - 300 - 200 - 10.

    Dropout takes whole channels with probability 1/2, in stochastic gradients only. Everything
    is computed in float32.

    Attributes:
        images: (N, 28, 28) float32, normalised.
        labels: (N,) integers below 10.
        batch: Images of one stochastic gradient.
        seed: Seed of the starting weights, uniform in +-1 / sqrt(inputs).

    Source: Hermans, Louppe (2018), arXiv:1805.08469, experiments on MNIST.
    """

    images: Array
    labels: Array
    batch: int = 64
    seed: int = 0

    @property
    def dimension(self):
        return sum(prod(shape) for shape in _SHAPES)

    @property
    def draws_per_job(self):
        return 21 * self.batch

    def start(self):
        pieces, first = [], 0
        for weights, biases in zip(_SHAPES[::2], _SHAPES[1::2], strict=True):
            count = prod(weights) + prod(biases)
            draws = uniforms(self.seed, Cause.DATA, -1, first, count)
            pieces.append((2 * draws - 1) / np.sqrt(weights[0]))
            first += count
        return np.concatenate(pieces)

    def gradient(self, view, draws, worker):
        rows = [self._sampled(row, uniform) for row, uniform in zip(view, draws, strict=True)]
        return np.stack(rows).astype(view.dtype, copy=False)

    def mean_gradient(self, x):
        return np.stack([self._whole(row)[1] for row in x]).astype(x.dtype, copy=False)

    def loss(self, x):
        return np.array([self._whole(row, gradient=False)[0] for row in x])

    def minimiser(self):
        return None

    def constants(self, radius=float("inf")):
        return unknown_constants(0.0, radius, shared=True)

    def _sampled(self, row: Array, uniform: Array) -> Array:
        chosen = (uniform[: self.batch] * len(self.images)).astype(np.int64)
        kept = uniform[self.batch :].reshape(self.batch, 1, 1, 20) < 0.5
        mask = 2 * kept.astype(np.float32)
        return self._backpropagate(row, self.images[chosen], self.labels[chosen], mask)[1]

    def _whole(self, row: Array, *, gradient: bool = True) -> tuple[float, Array]:
        total, slope = 0.0, np.zeros(len(row) if gradient else 0, np.float32)
        for first in range(0, len(self.images), _CHUNK):
            part = slice(first, first + _CHUNK)
            images, labels = self.images[part], self.labels[part]
            loss, piece = self._backpropagate(row, images, labels, None, gradient=gradient)
            total += loss * len(images) / len(self.images)
            slope = slope + piece * np.float32(len(images) / len(self.images))
        return total, slope

    def _backpropagate(
        self, row: Array, images: Array, labels: Array, mask: Any, *, gradient: bool = True
    ) -> tuple[float, Array]:
        """Mean loss over the images, and its gradient (empty if it is not wanted)."""
        w1, b1, w2, b2, *dense = _unpacked(row)
        columns_1 = _windows(images[..., None])
        pooled_1, places_1 = _pool((columns_1 @ w1 + b1).reshape(-1, 24, 24, 10))
        hidden_1 = np.maximum(pooled_1, 0)
        columns_2 = _windows(hidden_1)
        second = (columns_2 @ w2 + b2).reshape(-1, 8, 8, 20)
        pooled_2, places_2 = _pool(second if mask is None else second * mask)
        flat = np.maximum(pooled_2, 0).reshape(len(images), 320)
        loss, slopes, error = _dense(flat, dense, labels, gradient=gradient)
        if not gradient:
            return loss, np.zeros(0, np.float32)
        error = _unpool(error.reshape(pooled_2.shape) * (pooled_2 > 0), places_2)
        error = (error if mask is None else error * mask).reshape(-1, 20)
        back = _gathered(error @ w2.T, len(images)) * (pooled_1 > 0)
        first = _unpool(back, places_1).reshape(-1, 10)
        parts = [columns_1.T @ first, first.sum(0), columns_2.T @ error, error.sum(0), *slopes]
        return loss, np.concatenate([part.reshape(-1) for part in parts])


def _unpacked(row: Array) -> Iterator[Array]:
    row, first = row.astype(np.float32, copy=False), 0
    for shape in _SHAPES:
        yield row[first : first + prod(shape)].reshape(shape)
        first += prod(shape)


def _windows(images: Array) -> Array:
    """(B h w, 25 C) all 5 x 5 windows of (B, H, W, C) images."""
    view = np.lib.stride_tricks.sliding_window_view(images, (5, 5), axis=(1, 2))
    return view.transpose(0, 1, 2, 4, 5, 3).reshape(-1, 25 * images.shape[3])


def _gathered(columns: Array, n_images: int) -> Array:
    """(B, 12, 12, 10) sum of the windows that each pixel is in; the adjoint of `_windows`."""
    parts = columns.reshape(n_images, 8, 8, 5, 5, 10)
    image = np.zeros((n_images, 12, 12, 10), np.float32)
    for i in range(5):
        for j in range(5):
            image[:, i : i + 8, j : j + 8] += parts[:, :, :, i, j]
    return image


def _pool(x: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    """Largest of each 2 x 2 block of (B, H, W, C), and three bits that say which it was.

    Among equal values the first wins, as where an image is blank.
    """
    a, b, c, d = (x[:, i::2, j::2] for i in (0, 1) for j in (0, 1))
    upper, lower = np.maximum(a, b), np.maximum(c, d)
    return np.maximum(upper, lower), (b > a, d > c, lower > upper)


def _unpool(error: Array, places: tuple[Array, Array, Array]) -> Array:
    right_above, right_below, below = places
    lower = error * below
    upper = error - lower
    n, h, w, channels = error.shape
    whole = np.empty((n, 2 * h, 2 * w, channels), np.float32)
    for row, part, right in ((0, upper, right_above), (1, lower, right_below)):
        whole[:, row::2, 1::2] = part * right
        whole[:, row::2, ::2] = part - whole[:, row::2, 1::2]
    return whole


def _dense(
    flat: Array, dense: list[Array], labels: Array, *, gradient: bool
) -> tuple[float, list[Array], Array]:
    """Loss, slopes of the dense layers, and the error that enters them from above."""
    signals = [flat]
    for number, (weights, biases) in enumerate(zip(dense[::2], dense[1::2], strict=True)):
        signal = signals[-1] @ weights + biases
        signals.append(np.maximum(signal, 0) if number < 2 else signal)
    logits = signals[-1] - signals[-1].max(axis=1, keepdims=True)
    logarithms = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    loss = -float(logarithms[rows, labels].mean(dtype=np.float64))
    if not gradient:
        return loss, [], flat
    error = np.exp(logarithms)
    error[rows, labels] -= 1
    error /= len(labels)
    slopes: list[Array] = []
    for number in reversed(range(3)):
        slopes = [signals[number].T @ error, error.sum(0), *slopes]
        error = error @ dense[2 * number].T
        if number > 0:
            error = error * (signals[number] > 0)
    return loss, slopes, error
