"""The network of the energy matching paper against PyTorch's autograd."""

import numpy as np
import pytest

from elastic_consistency.validation.papers.energy_matching.convolutional_network import (
    ConvolutionalNetwork,
)

torch = pytest.importorskip("torch")
SHAPES = ((5, 5, 10), (10,), (5, 5, 10, 20), (20,), (320, 300), (300,), (300, 200), (200,),
          (200, 10), (10,))  # fmt: skip


def _images(count):
    """Blobs on a blank ground, so that pooling meets ties as with digits."""
    rng = np.random.default_rng(1)
    images = np.zeros((count, 28, 28), np.float32)
    images[:, 6:20, 8:22] = rng.uniform(size=(count, 14, 14))
    return images, rng.integers(10, size=count)


def _loss(row, images, labels):
    """The same network in PyTorch's own functions."""
    functional = torch.nn.functional
    sizes = [int(np.prod(shape)) for shape in SHAPES]
    w1, b1, w2, b2, *dense = (
        part.reshape(shape) for part, shape in zip(row.split(sizes), SHAPES, strict=True)
    )
    first = functional.conv2d(images[:, None], w1.permute(2, 0, 1)[:, None], b1)
    first = functional.relu(functional.max_pool2d(first, 2))
    second = functional.conv2d(first, w2.permute(3, 2, 0, 1), b2)
    second = functional.relu(functional.max_pool2d(second, 2))
    signal = second.permute(0, 2, 3, 1).reshape(len(images), -1)
    for weights, biases in zip(dense[:4:2], dense[1:4:2], strict=True):
        signal = functional.relu(signal @ weights + biases)
    return functional.cross_entropy(signal @ dense[4] + dense[5], labels)


def test_loss_and_gradient_are_those_of_pytorch():
    images, labels = _images(40)
    oracle = ConvolutionalNetwork(images, labels)
    start = oracle.start()

    row = torch.tensor(start, requires_grad=True)
    loss = _loss(row, torch.tensor(images, dtype=torch.float64), torch.tensor(labels))
    loss.backward()

    expected = row.grad.numpy()
    found = oracle.mean_gradient(start[None])[0]
    assert float(oracle.loss(start[None])[0]) == pytest.approx(loss.item(), rel=1e-5)
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()


def test_dropout_leaves_the_gradient_unbiased_in_its_scale():
    """Half of the channels are dropped and the others doubled: gradients stay of one size."""
    oracle = ConvolutionalNetwork(*_images(30), batch=8)
    draws = np.random.default_rng(0).uniform(size=(6, oracle.draws_per_job))

    gradients = oracle.gradient(np.repeat(oracle.start()[None], 6, axis=0), draws, 0)

    whole = np.linalg.norm(oracle.mean_gradient(oracle.start()[None]))
    assert len(np.unique(gradients[:, -1])) == 6
    assert 0.3 * whole < np.linalg.norm(gradients.mean(axis=0)) < 3 * whole
