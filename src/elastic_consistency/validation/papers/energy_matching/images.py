"""Images that the network of the paper trains on."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency.optimization.oracles import Dataset, fashion_mnist, mnist
from elastic_consistency.validation.papers.energy_matching.convolutional_network import (
    ConvolutionalNetwork,
)

FASHION_FOLDER = Path("/usr/share/datasets/fashion-mnist")  # of Debian's dataset-fashion-mnist


@final
@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Labelled images.

    Attributes:
        pixels: (N, 28, 28) float32, normalised.
        labels: (N,) integers below 10.
    """

    pixels: np.ndarray
    labels: np.ndarray

    def part(self, chosen: Any) -> "Images":
        """Those that an index array or a slice chooses."""
        return Images(self.pixels[chosen], self.labels[chosen])

    def network(self, batch: int) -> ConvolutionalNetwork:
        """The network of the paper on these images."""
        return ConvolutionalNetwork(self.pixels, self.labels, batch=batch)


@lru_cache(maxsize=1)
def mnist_images() -> Images:
    """5000 MNIST images, normalised by .1307 and .3081."""
    return _normalised(mnist(), 0.1307, 0.3081)


@lru_cache(maxsize=1)
def fashion_images() -> Images:
    """The 60000 training images of Fashion-MNIST, normalised by .286 and .353.

    Raises:
        FileNotFoundError: If Debian's package with the images is not installed.
    """
    return _normalised(fashion_mnist(FASHION_FOLDER), 0.286, 0.353)


def _normalised(data: Dataset, mean: float, deviation: float) -> Images:
    pixels = data.features[:, :784].astype(np.float32).reshape(-1, 28, 28)
    return Images((pixels - np.float32(mean)) / np.float32(deviation), data.labels)
