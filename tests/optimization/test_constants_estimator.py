"""Estimated constants against known ones, and the word that follows them."""

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import (
    ConstantsEstimator,
    GemanMcClure,
    LeastSquares,
    LogisticRegression,
    MultilayerPerceptron,
    Quadratic,
    breast_cancer,
    measured_heterogeneity,
    shards_by_label,
    sparse_rows,
)


def _rng(seed=0):
    return np.random.default_rng(seed)


def _estimator(oracle, n_points=3, **options):
    points = oracle.start() + 0.1 * _rng(9).normal(size=(n_points, oracle.dimension))
    return ConstantsEstimator(oracle, points, **options)


@pytest.mark.parametrize("d", [1, 2, 3, 30])
@pytest.mark.parametrize("seed", range(5))
def test_intervals_hold_the_ends_of_a_known_spectrum(d, seed):
    """Each interval fails with probability 1e-9; differences of a quadratic are exact."""
    spectrum = np.linspace(0.5, 2.0, d) if d > 1 else np.array([2.0])
    estimator = _estimator(Quadratic(spectrum), error_rate=1e-9)

    smoothness = estimator.smoothness(_rng(seed))
    convexity = estimator.strong_convexity(_rng(seed))

    assert smoothness.low <= 2.0 * (1 + 1e-8)
    assert smoothness.high >= 2.0 * (1 - 1e-8)
    assert convexity.low <= spectrum.min() + 1e-8
    assert convexity.high >= spectrum.min() - 1e-8


def test_more_powers_give_shorter_intervals():
    widths = []
    for iterations in (10, 100, 1000):
        estimate = _estimator(Quadratic(np.linspace(0.5, 2.0, 30)), iterations=iterations)
        interval = estimate.smoothness(_rng(1))
        widths.append(interval.high - interval.low)

    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.05


def test_a_non_convex_loss_has_negative_curvature():
    """At +-1 the second derivative is exactly -1/2; at 0 it is 2."""
    oracle = GemanMcClure(np.ones(4))
    estimator = ConstantsEstimator(oracle, np.array([np.ones(4)]), iterations=400)

    estimate = estimator.strong_convexity(_rng(2))

    assert estimate.low <= -0.5 + 1e-6
    assert estimate.high == pytest.approx(-0.5, abs=1e-3)
    origin = ConstantsEstimator(oracle, np.zeros((1, 4)), iterations=400)
    assert origin.smoothness(_rng(2)).low == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_sampled_moments_hold_the_true_ones(seed):
    """A batch of one on 40 rows, whose moments are plain means; intervals fail at 1e-6."""
    rng = _rng(3)
    oracle = LeastSquares(sparse_rows(40, 6, 3, rng), rng.normal(size=40))
    estimator = _estimator(oracle, n_draws=2000, error_rate=1e-6)
    draws = (np.arange(40)[:, None] + 0.5) / 40

    truth = {"variance": [], "second_moment": []}
    for point in estimator.points:
        gradients = oracle.gradient(np.repeat(point[None], 40, axis=0), draws, 0)
        truth["variance"].append(((gradients - gradients.mean(axis=0)) ** 2).sum(1).mean())
        truth["second_moment"].append((gradients**2).sum(1).mean())

    for name, values in truth.items():
        estimate = getattr(estimator, name)(_rng(seed))
        assert estimate.low <= max(values) <= estimate.high
        assert estimate.high < 1.5 * max(values)


def test_additive_noise_has_the_variance_that_was_asked_for():
    estimator = _estimator(Quadratic(np.ones(5), 3.0), n_draws=4000, error_rate=1e-6)

    estimate = estimator.variance(_rng(4))

    assert estimate.low <= 3.0 <= estimate.high
    assert estimate.high - estimate.low < 1.0


def test_suboptimality_lies_between_progress_and_the_known_infimum():
    oracle = Quadratic(np.ones(2), initial=np.array([3.0, 4.0]))
    points = np.array([[3.0, 4.0], [1.0, 0.0]])

    estimate = ConstantsEstimator(oracle, points).suboptimality()

    assert (estimate.low, estimate.high) == (12.0, 12.5)


def test_estimates_are_below_proved_bounds_on_real_data():
    data = breast_cancer()
    oracle = LogisticRegression(data.features, data.labels, 2, batch=4, ridge=0.05)
    points = np.stack([oracle.start(), oracle.minimiser()])
    estimator = ConstantsEstimator(oracle, points, iterations=200)
    known = oracle.constants(float(np.linalg.norm(points[0] - points[1])))

    assert estimator.smoothness(_rng()).low <= known.smoothness
    # At the start, where every p (1 - p) is 1/4, the smoothness is attained.
    assert estimator.smoothness(_rng()).low == pytest.approx(known.smoothness, rel=1e-3)
    assert estimator.strong_convexity(_rng()).high >= known.strong_convexity
    assert estimator.variance(_rng()).low <= known.variance
    assert estimator.second_moment(_rng()).low <= known.second_moment


def test_the_word_estimated_follows_every_constant():
    oracle = MultilayerPerceptron(_rng(5).normal(size=(20, 3)), np.arange(20) % 3, 3, (4,), batch=2)
    estimator = _estimator(oracle)

    constants = estimator.constants(_rng(6))

    names = {"smoothness", "strong_convexity", "variance", "second_moment", "heterogeneity"}
    assert constants.estimated == names
    assert all(np.isfinite(getattr(constants, name)) for name in constants.estimated)
    assert constants.infimum == 0.0
    estimates = [
        estimator.smoothness(_rng()),
        estimator.strong_convexity(_rng()),
        estimator.variance(_rng()),
        estimator.second_moment(_rng()),
        estimator.heterogeneity(),
        estimator.suboptimality(),
    ]
    for estimate in estimates:
        assert estimate.method.startswith("estimated")
        assert estimate.low <= estimate.high


def test_workers_with_data_of_their_own_are_not_taken_for_alike():
    """A network claims nothing; the estimate is the largest value at the points."""
    features, labels = _rng(5).normal(size=(20, 3)), np.arange(20) % 3
    shards = shards_by_label(labels, 2)
    oracle = MultilayerPerceptron(features, labels, 3, (4,), batch=2, shards=shards)
    points = np.stack([oracle.start(), oracle.start() + 1])

    estimate = ConstantsEstimator(oracle, points, n_workers=2).heterogeneity()

    assert oracle.constants().heterogeneity == float("inf")
    assert estimate.low == measured_heterogeneity(oracle, points, 2).max() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 1}, "ConstantsEstimator.n_draws"),
        ({"iterations": 0}, "ConstantsEstimator.iterations"),
        ({"error_rate": 0.0}, "ConstantsEstimator.error_rate"),
        ({"n_workers": 0}, "ConstantsEstimator.n_workers"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        _estimator(Quadratic(np.ones(2)), **options)
