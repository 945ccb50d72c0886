"""Class probabilities and log-losses from logits, for one column or many."""

from typing import Any

import numpy as np

Array = Any


def one_hot(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """(N, K) float64 one-hot rows; for two classes K = 1 and the label itself."""
    first = 1 if n_classes == 2 else 0
    return (labels[:, None] == np.arange(first, n_classes)).astype(np.float64)


def labels_are_valid(labels: np.ndarray, n_samples: int, n_classes: int) -> bool:
    """Whether `labels` are `n_samples` integers in [0, n_classes)."""
    known = np.isin(labels, np.arange(n_classes)).all()
    return labels.shape == (n_samples,) and bool(known)


def probabilities(xp: Any, logits: Array) -> Array:
    """(..., K) class probabilities of (..., K) logits; for K = 1 that of class 1."""
    if logits.shape[-1] == 1:
        # The hyperbolic tangent cannot overflow, the exponential can.
        return (xp.tanh(logits / 2) + 1) / 2
    powers = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def log_loss(xp: Any, logits: Array, targets: Array) -> Array:
    """(...) minus the log-probability of the right class.

    Args:
        xp: Array namespace.
        logits: (..., K); K = 1 for two classes.
        targets: (..., K) one-hot rows; for K = 1 the label, 0 or 1.
    """
    own = xp.sum(logits * targets, axis=-1)
    if logits.shape[-1] == 1:
        return xp.logaddexp(xp.zeros_like(own), logits[..., 0]) - own
    largest = xp.max(logits, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(logits - largest), axis=-1)) + largest[..., 0] - own
