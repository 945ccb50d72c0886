"""Gradients written into a given array: the oracles' own arithmetic, on constants laid out once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from elastic_consistency.execution.programs.aligned import aligned_empty
from elastic_consistency.execution.programs.in_place_logistic import logistic_gradient
from elastic_consistency.optimization.oracles import (
    AbstractOracle,
    Linear,
    LogisticRegression,
    Quadratic,
)
from elastic_consistency.optimization.oracles.gaussian_noise import gaussian_noise
from elastic_consistency.random_streams import Cause, JobUniforms

Array = np.ndarray
Gradient = Callable[[Array, int, int, Array], object]


def in_place_gradient(oracle: AbstractOracle, seeds: tuple[int, ...], blank: Array) -> Gradient:
    """A function (view, job, worker, out) that writes the gradient at `view` to `out`.

    `out` may be the view itself.

    Args:
        oracle: The problem.
        seeds: One seed a replicate.
        blank: (R, d) array whose shape and dtype all views share.
    """
    if isinstance(oracle, LogisticRegression):
        return logistic_gradient(oracle, seeds, blank)
    draws = JobUniforms(seeds, Cause.SAMPLE, -1, oracle.draws_per_job)
    if is_elementwise(oracle):
        mean = _mean_gradient(oracle, blank)
        return _with_noise(mean, oracle, draws, blank) if oracle.draws_per_job else mean
    return _of_any_oracle(oracle, draws)


def is_elementwise(oracle: AbstractOracle) -> bool:
    """Whether every coordinate of every replicate is computed by itself.

    Only then can replicates be cut into tiles without any doubt about rounding.
    """
    return isinstance(oracle, Linear | Quadratic)


def _mean_gradient(oracle: Any, blank: Array) -> Gradient:
    if isinstance(oracle, Linear):
        slope = 0.0 + laid_out(oracle.slope, blank)
        return lambda view, job, worker, out: np.copyto(out, slope)
    spectrum = laid_out(oracle.spectrum, blank)
    if oracle.optimum is None and oracle.offsets is None:
        return lambda view, job, worker, out: np.multiply(spectrum, view, out)
    optimum = None if oracle.optimum is None else laid_out(oracle.optimum, blank)
    offsets = None if oracle.offsets is None else oracle.offsets.astype(blank.dtype)

    def gradient(view: Array, job: int, worker: int, out: Array) -> None:
        if optimum is not None:
            view = np.subtract(view, optimum, out)
        if offsets is not None:
            view = np.subtract(view, offsets[worker], out)
        np.multiply(spectrum, view, out)

    return gradient


def _with_noise(mean: Gradient, oracle: Any, draws: JobUniforms, blank: Array) -> Gradient:
    def gradient(view: Array, job: int, worker: int, out: Array) -> None:
        mean(view, job, worker, out)
        np.add(out, gaussian_noise(draws(job), oracle.variance, blank), out)

    return gradient


def _of_any_oracle(oracle: AbstractOracle, draws: JobUniforms) -> Gradient:
    def gradient(view: Array, job: int, worker: int, out: Array) -> None:
        np.copyto(out, oracle.gradient(view, draws(job), worker))

    return gradient


def laid_out(values: Array, blank: Array) -> Array:
    """(R, d) copies of (d,) values, so that no operation has to broadcast."""
    copies = aligned_empty(blank.shape, blank.dtype)
    copies[...] = values
    return copies
