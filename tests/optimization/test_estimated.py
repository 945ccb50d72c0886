"""Estimated constants stand in for those that nobody has proved."""

from math import sqrt

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import Quadratic, estimated_along_descent


@pytest.fixture
def quadratic():
    return Quadratic(np.array([4.0, 1.0, 0.5]), variance=0.3, initial=np.array([1.0, -2.0, 3.0]))


def test_estimates_are_on_the_safe_side_of_the_truth(quadratic):
    """The spectrum is known; false-alarm rate 1e-3 a constant, at a fixed seed."""
    constants = estimated_along_descent(quadratic).constants()

    assert 4.0 <= constants.smoothness <= 1.3 * 4.0
    assert -1.0 <= constants.strong_convexity <= 0.5
    # ||noise||^2 has the deviation .3 sqrt(2 / 3), its mean over 100 draws a tenth of that.
    assert 0.3 <= constants.variance <= 0.3 + 9 * 0.03 * sqrt(2 / 3)
    assert constants.infimum == 0.0
    assert {"smoothness", "strong_convexity", "variance"} <= constants.estimated


def test_everything_else_is_the_problem_itself(quadratic):
    estimated = estimated_along_descent(quadratic, seed=5)
    x, draws = np.ones((2, 3)), np.full((2, 3), 0.3)

    assert estimated.oracle is quadratic
    assert (estimated.dimension, estimated.draws_per_job) == (3, 3)
    for name in ("mean_gradient", "loss"):
        assert np.array_equal(getattr(estimated, name)(x), getattr(quadratic, name)(x))
    assert np.array_equal(estimated.gradient(x, draws, 0), quadratic.gradient(x, draws, 0))
    assert np.array_equal(
        estimated.worker_mean_gradient(x, 1), quadratic.worker_mean_gradient(x, 1)
    )
    assert np.array_equal(estimated.start(), quadratic.start())
    assert np.array_equal(estimated.minimiser(), quadratic.minimiser())


def test_the_radius_is_the_one_that_is_asked_for(quadratic):
    assert estimated_along_descent(quadratic).constants(2.5).radius == 2.5
