"""The stochastic gradient of logistic regression, written into a given array."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.execution.programs.aligned import aligned_empty
from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.random_streams import Cause, JobUniforms

Array = np.ndarray


def logistic_gradient(
    oracle: LogisticRegression, seeds: tuple[int, ...], blank: Array
) -> Callable[[Array, int, int, Array], None]:
    """A function (view, job, worker, out) with the bits of `oracle.gradient`.

    The batch, its logits and the gradient have arrays that are written again in every call.

    Args:
        oracle: The problem.
        seeds: One seed a replicate.
        blank: (R, d) array whose shape and dtype all views share.
    """
    features = oracle.features.astype(blank.dtype, copy=False)
    targets = oracle.targets.astype(blank.dtype, copy=False)
    chosen_by, batch, dtype = _samples(oracle, seeds), oracle.batch, blank.dtype
    (n_features, columns), replicates = (features.shape[1], targets.shape[1]), len(blank)
    chosen = aligned_empty((replicates, batch, n_features), dtype)
    turned = chosen.swapaxes(1, 2)
    wanted, logits = (aligned_empty((replicates, batch, columns), dtype) for _ in range(2))
    product = aligned_empty((replicates, n_features, columns), dtype)
    # Zero-dimensional arrays: NumPy would convert a number anew in every call.
    count, ridge = np.asarray(batch, dtype), np.asarray(oracle.ridge, dtype)
    to_probabilities = _softmax(logits) if columns > 1 else _sigmoid(logits)

    def gradient(view: Array, job: int, worker: int, out: Array) -> None:
        samples = chosen_by(job, worker)
        # All numbers are within; the mode "raise" would gather into another array first.
        features.take(samples, 0, chosen, "clip")
        targets.take(samples, 0, wanted, "clip")
        np.matmul(chosen, view.reshape(product.shape), logits)
        to_probabilities()
        np.subtract(logits, wanted, logits)
        np.divide(logits, count, logits)
        np.matmul(turned, logits, product)
        np.multiply(view, ridge, out)
        np.add(product.reshape(blank.shape), out, out)

    return gradient


def _samples(oracle: LogisticRegression, seeds: tuple[int, ...]) -> Callable[[int, int], Array]:
    """A function of job and worker: (R, batch) numbers of the samples of a batch."""
    samples, width = oracle.samples, oracle.batch
    if samples.members:
        draws = JobUniforms(seeds, Cause.SAMPLE, -1, width)
        return lambda job, worker: samples.indices(draws(job), worker)
    # All workers draw from the same samples, so that many jobs are looked up at a time.
    numbers = JobUniforms(
        seeds, Cause.SAMPLE, -1, width, transform=lambda draws: samples.indices(draws, 0)
    )
    return lambda job, worker: numbers(job)


def _softmax(logits: Array) -> Callable[[], None]:
    """Turns (R, batch, K) logits into probabilities, as oracles.softmax does."""
    end = aligned_empty((*logits.shape[:2], 1), logits.dtype)

    def turn() -> None:
        np.maximum.reduce(logits, axis=-1, keepdims=True, out=end)
        np.subtract(logits, end, logits)
        np.exp(logits, logits)
        np.add.reduce(logits, axis=-1, keepdims=True, out=end)
        np.divide(logits, end, logits)

    return turn


def _sigmoid(logits: Array) -> Callable[[], None]:
    """The same for one column of logits and two classes."""
    one, two = np.asarray(1, logits.dtype), np.asarray(2, logits.dtype)

    def turn() -> None:
        np.divide(logits, two, logits)
        np.tanh(logits, logits)
        np.add(logits, one, logits)
        np.divide(logits, two, logits)

    return turn
