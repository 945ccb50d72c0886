"""Additive Gaussian noise that is a function of uniforms."""

from typing import Any

import numpy as np
from scipy.special import ndtri

from elastic_consistency.optimization.arrays import like

Array = Any


def gaussian_noise(draws: np.ndarray, variance: float, reference: Array) -> Array:
    """(R, d) independent normal vectors with E||noise||^2 = `variance`.

    Every coordinate has variance `variance` / d, by inversion of the normal distribution
    function, so that draw k of a stream decides coordinate k of the noise and nothing else.

    Args:
        draws: (R, d) uniforms in (0, 1).
        variance: sigma^2 >= 0 of the whole vector.
        reference: (R, d) array whose library, dtype and device the noise takes.
    """
    deviation = np.sqrt(variance / draws.shape[-1])
    return like(reference, deviation * ndtri(draws))
