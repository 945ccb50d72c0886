"""Known constants of oracles, against search and where they are attained."""

import numpy as np
import pytest
from oracle_cases import BOUNDED, Case, labelled_data

from elastic_consistency.optimization.oracles import (
    GemanMcClure,
    LogisticRegression,
    Quadratic,
    breast_cancer,
    measured_heterogeneity,
)
from elastic_consistency.optimization.oracles.logistic_constants import largest_sample_gradients

with_constants = pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case.name)


@with_constants
def test_the_minimiser_is_stationary_and_has_the_infimum(case):
    oracle, minimiser = case.oracle, case.oracle.minimiser()
    infimum = oracle.constants(1.0).infimum
    if minimiser is None:
        assert infimum is None
        return

    assert np.linalg.norm(oracle.mean_gradient(minimiser[None])) <= 2e-12
    assert oracle.loss(minimiser[None])[0] == pytest.approx(infimum, abs=1e-14)
    assert (oracle.loss(case.ball(200, 2.0)) >= infimum - 1e-12).all()


@with_constants
@pytest.mark.parametrize("radius", [0.01, 1.0, 5.0])
def test_no_sampled_pair_violates_smoothness_or_convexity(case, radius):
    oracle, constants = case.oracle, case.oracle.constants(radius)
    near, far = case.ball(400, radius, 1), case.ball(400, radius, 2)
    near[:200] = far[:200] + 1e-3 * (near[:200] - far[:200])  # close pairs meet curvature

    difference = oracle.mean_gradient(near) - oracle.mean_gradient(far)
    apart = near - far

    length = np.linalg.norm(apart, axis=1)
    assert (np.linalg.norm(difference, axis=1) <= constants.smoothness * length + 1e-12).all()
    product = (difference * apart).sum(axis=1)
    assert (product >= constants.strong_convexity * length**2 - 1e-12).all()


@with_constants
@pytest.mark.parametrize("radius", [0.0, 0.5, 3.0, 300.0])
def test_no_sampled_point_violates_variance_or_second_moment(case, radius):
    """Exact for batches of one. Others are means of 400 draws: 1 + 6 sqrt(2 / 400) to spare."""
    oracle, constants = case.oracle, case.oracle.constants(radius)
    slack = 1 + 1e-9 if case.every_outcome else 1.42
    for point in case.ball(12, radius):
        for worker in range(case.n_workers):
            gradients = case.gradients(point, worker)
            mean = oracle.worker_mean_gradient(point[None], worker)
            variance = ((gradients - mean) ** 2).sum(axis=1).mean()
            moment = (mean**2).sum() + variance

            assert variance <= constants.variance * slack + 1e-12
            assert moment <= constants.second_moment * slack + 1e-12


def _climb(case, radius, height, n_rounds=40):
    """Largest `height` that twenty walkers find in the ball, each keeping what is higher."""
    rng = np.random.default_rng(6)
    points = case.ball(20, radius)
    centre = case.oracle.minimiser()
    centre = case.oracle.start() if centre is None else centre
    best = height(points)
    for number in range(n_rounds):
        moved = points + radius * 0.9**number * rng.normal(size=points.shape)
        offset = moved - centre
        length = np.maximum(np.linalg.norm(offset, axis=1, keepdims=True) / radius, 1)
        moved = centre + offset / length
        heights = height(moved)
        points = np.where((heights > best)[:, None], moved, points)
        best = np.maximum(best, heights)
    return best.max()


@with_constants
@pytest.mark.parametrize("radius", [0.5, 3.0])
def test_no_climber_exceeds_the_constants(case, radius):
    oracle, constants = case.oracle, case.oracle.constants(radius)
    direction = np.random.default_rng(7).normal(size=oracle.dimension)
    direction /= np.linalg.norm(direction)

    def steepness(points):
        return np.max(
            [
                np.linalg.norm(oracle.worker_mean_gradient(points, worker), axis=1)
                for worker in range(case.n_workers)
            ],
            axis=0,
        )

    def curvature(points):
        change = oracle.mean_gradient(points + 1e-5 * direction) - oracle.mean_gradient(points)
        return np.linalg.norm(change, axis=1) / 1e-5

    def difference(points):
        return measured_heterogeneity(oracle, points, case.n_workers)

    moment = constants.second_moment + 1e-12
    assert _climb(case, radius, steepness) ** 2 <= moment
    assert _climb(case, radius, curvature) <= constants.smoothness * (1 + 1e-6) + 1e-9
    assert _climb(case, radius, difference) <= constants.heterogeneity * (1 + 1e-9) + 1e-20


@with_constants
@pytest.mark.parametrize("radius", [0.0, 0.5, 3.0])
def test_no_sampled_point_violates_heterogeneity(case, radius):
    oracle, constants = case.oracle, case.oracle.constants(radius)

    measured = measured_heterogeneity(oracle, case.ball(50, radius), case.n_workers)

    assert (measured <= constants.heterogeneity * (1 + 1e-9) + 1e-20).all()
    assert (constants.heterogeneity > 0) == (case.n_workers > 1)


@with_constants
def test_constants_grow_with_the_ball_up_to_those_of_the_whole_space(case):
    small, large, whole = (case.oracle.constants(r) for r in (0.5, 2.0, float("inf")))
    for name in ("variance", "second_moment", "heterogeneity", "smoothness"):
        values = [getattr(constants, name) for constants in (small, large, whole)]

        assert values == sorted(values)
        assert not np.isnan(values).any()
    assert case.oracle.constants() == whole


def test_constants_of_a_quadratic_are_attained():
    """No smaller L, c, M or zeta would do."""
    offsets = np.array([[0.0, 1.0], [0.0, -1.0]])
    oracle = Quadratic(np.array([0.5, 2.0]), 0.25, offsets=offsets)
    constants = oracle.constants(3.0)

    assert (constants.smoothness, constants.strong_convexity) == (2.0, 0.5)
    steepest = oracle.worker_mean_gradient(np.array([[0.0, 3.0]]), 1)
    assert constants.second_moment == (steepest**2).sum() + 0.25 == 64.25
    assert constants.heterogeneity == 4.0
    assert constants.infimum == 1.0


def test_constants_of_geman_mcclure_are_attained():
    oracle = GemanMcClure(np.zeros(1))
    step = 1e-4

    slope = oracle.mean_gradient(np.array([[1 / 3**0.5]])).item()
    curvature = oracle.mean_gradient(np.array([[step]])).item() / step
    negative = np.diff(oracle.mean_gradient(np.array([[1 - step], [1 + step]])), axis=0).item()

    assert slope**2 == pytest.approx(oracle.constants().second_moment, rel=1e-12)
    assert curvature == pytest.approx(oracle.constants().smoothness, rel=1e-6)
    assert negative / (2 * step) == pytest.approx(oracle.constants().strong_convexity, rel=1e-6)


def test_smoothness_of_binary_logistic_regression_is_attained_at_the_origin():
    """There every p (1 - p) is 1/4, so L is the largest eigenvalue of the Hessian itself."""
    features, labels = labelled_data(50, 4, 2)
    oracle = LogisticRegression(features, labels, 2, batch=1, ridge=0.5)

    columns = [oracle.hessian_product(np.zeros(4), column) for column in np.eye(4)]

    largest = np.linalg.eigvalsh(np.array(columns))[-1]
    assert oracle.constants(1.0).smoothness == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("radius", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_sample_is_steeper_than_its_bound_even_where_it_is_worst(n_classes, radius):
    """From the centre along x (e_k - e_y), k wrong and y right; one column attains the bound."""
    oracle = LogisticRegression(*labelled_data(12, 3, n_classes), n_classes, batch=1, ridge=0.0)
    centre = np.random.default_rng(1).normal(size=oracle.dimension)
    bounds = largest_sample_gradients(oracle, centre, radius)
    for number, (features, right) in enumerate(zip(oracle.features, oracle.labels, strict=True)):
        steepest = 0.0
        for wrong in set(range(n_classes)) - {right}:
            towards = np.eye(n_classes)[wrong] - np.eye(n_classes)[right]
            towards = towards[1:] if n_classes == 2 else towards
            direction = np.outer(features, towards).ravel()
            point = centre + radius * direction / np.linalg.norm(direction)
            gradient = oracle.gradient(point[None], np.array([[(number + 0.5) / 12]]), 0)
            steepest = max(steepest, np.linalg.norm(gradient))

        assert steepest <= bounds[number] * (1 + 1e-9)
        if n_classes == 2:
            assert steepest == pytest.approx(bounds[number], rel=1e-9)


def test_variance_bound_of_logistic_regression_is_close_at_the_minimiser():
    """At r = 0 only the squared mean gradient is lost: ridge^2 ||x*||^2."""
    data = breast_cancer()
    oracle = LogisticRegression(data.features, data.labels, 2, batch=1, ridge=0.01)
    minimiser = oracle.minimiser()

    gradients = Case("breast_cancer", oracle, None).gradients(minimiser, 0)

    variance = (gradients**2).sum(axis=1).mean()
    lost = (0.01 * np.linalg.norm(minimiser)) ** 2
    assert oracle.constants(0.0).variance == pytest.approx(variance + lost, rel=1e-9)
