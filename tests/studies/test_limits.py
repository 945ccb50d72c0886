"""What is possible on a ball: the longest stochastic gradient of logistic regression."""

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.studies.judging.limits import limits_of

RADIUS = 20.0  # far enough to be sure of a class, too near for the ridge to count much


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_longest_gradient_is_longer_than_that_of_a_sample_that_is_surely_wrong(n_classes):
    """Far along the gradient of one sample its class is surely missed: p - y is e_j - e_k.

    Its norm is sqrt(2), or 1 where two classes share one number; the ridge pulls the same way.
    """
    rng = np.random.default_rng(n_classes)
    features = rng.normal(size=(4 * n_classes, 6))
    labels = np.arange(len(features)) % n_classes
    oracle = LogisticRegression(features, labels, n_classes, batch=1, ridge=0.005)
    minimiser = oracle.minimiser()
    assert minimiser is not None

    start_distance = float(np.linalg.norm(oracle.start() - minimiser))
    limits = limits_of(oracle, RADIUS / start_distance)

    longest = 0.0
    for sample in range(len(features)):
        draw = np.array([[(sample + 0.5) / len(features)]])
        gradient = oracle.gradient(minimiser[None], draw, 0)[0]
        far = minimiser + limits.radius * gradient / np.linalg.norm(gradient)
        longest = max(longest, float(np.linalg.norm(oracle.gradient(far[None], draw, 0))))
    assert limits.largest_gradient is not None
    assert 0.9 * limits.largest_gradient < longest <= limits.largest_gradient
