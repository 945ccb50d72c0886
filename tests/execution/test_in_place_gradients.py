"""A gradient that is written into a given array has the bits of the oracle's own."""

import numpy as np
import pytest

from elastic_consistency.execution.programs.in_place_gradients import in_place_gradient
from elastic_consistency.optimization.oracles import LogisticRegression, Shards
from elastic_consistency.random_streams import Cause, JobUniforms

SAMPLES, FEATURES = 40, 7


def logistic(n_classes, *, batch=5, ridge=0.1, sharded=False):
    rng = np.random.default_rng(n_classes)
    features = 3 * rng.standard_normal((SAMPLES, FEATURES))
    labels = rng.integers(n_classes, size=SAMPLES)
    shards = Shards(SAMPLES, (np.arange(0, 9), np.arange(9, SAMPLES))) if sharded else None
    return LogisticRegression(features, labels, n_classes, batch=batch, ridge=ridge, shards=shards)


ORACLES = [
    logistic(2),
    logistic(2, sharded=True, ridge=0.0),
    logistic(3),
    logistic(3, sharded=True),
    logistic(10, batch=1),
    logistic(10, batch=33, ridge=0.0),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_seeds", [1, 3])
@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_bits_are_those_of_the_oracle(oracle, n_seeds, dtype):
    """Jobs come out of order, too, and from more than two blocks of uniforms."""
    seeds, rng = tuple(range(n_seeds)), np.random.default_rng(0)
    draws = JobUniforms(seeds, Cause.SAMPLE, -1, oracle.draws_per_job)
    gradient = in_place_gradient(oracle, seeds, np.empty((n_seeds, oracle.dimension), dtype))

    for job in (0, 1, 70, 3, 63, 64, 200, 199):
        view = rng.standard_normal((n_seeds, oracle.dimension)).astype(dtype)
        right = oracle.gradient(view, draws(job), job % 2)
        out = np.full_like(view, np.nan)
        gradient(view, job, job % 2, out)
        assert out.dtype == right.dtype
        assert out.tobytes() == right.tobytes()
        gradient(view, job, job % 2, view)
        assert view.tobytes() == right.tobytes()


def test_zeros_keep_their_signs_and_infinities_their_place():
    """ridge = 0 is still multiplied: -0 + 0 is 0, and 0 times infinity is no number."""
    oracle = logistic(3, ridge=0.0)
    view = np.zeros((1, oracle.dimension))
    view[0, 4] = np.inf
    draws = JobUniforms((0,), Cause.SAMPLE, -1, oracle.draws_per_job)
    out = np.empty_like(view)

    with np.errstate(invalid="ignore"):
        in_place_gradient(oracle, (0,), view)(view, 5, 0, out)
        right = oracle.gradient(view, draws(5), 0)

    assert np.isnan(out[0, 4])
    assert np.array_equal(out, right, equal_nan=True)
