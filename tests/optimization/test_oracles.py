"""Every oracle: gradients against finite differences and autograd, constants against search."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elastic_consistency.optimization.oracles import (
    GemanMcClure,
    LeastSquares,
    Linear,
    LogisticRegression,
    MultilayerPerceptron,
    Quadratic,
    breast_cancer,
    iid_shards,
    measured_heterogeneity,
    shards_by_label,
    sparse_rows,
)

BINARY = torch.nn.functional.binary_cross_entropy_with_logits


def _data(n_samples, n_features, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.3, 2, n_features)
    labels = rng.integers(0, n_classes, n_samples)
    labels[:n_classes] = np.arange(n_classes)
    return features, labels


@dataclass(frozen=True)
class Case:
    """An oracle, and its loss written anew in torch where it is not additive noise."""

    name: str
    oracle: Any
    torch_loss: Any


def _softmax_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    features, labels = torch.tensor(oracle.features), torch.tensor(oracle.labels)

    def loss(x):
        logits = features @ x.reshape(features.shape[1], oracle.n_classes)
        losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        return (weights * losses).sum() + oracle.ridge / 2 * x.dot(x)

    return loss


def _binary_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    features, labels = torch.tensor(oracle.features), torch.tensor(oracle.labels)

    def loss(x):
        losses = BINARY(features @ x, labels.to(x.dtype), reduction="none")
        return (weights * losses).sum() + oracle.ridge / 2 * x.dot(x)

    return loss


def _network_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    signal_in, labels = torch.tensor(oracle.features), torch.tensor(oracle.labels)
    widths = [oracle.features.shape[1], *oracle.hidden, oracle.targets.shape[1]]

    def loss(x):
        signal, first = signal_in, 0
        for number, (rows, columns) in enumerate(pairwise(widths)):
            matrix = x[first : first + rows * columns].reshape(rows, columns)
            bias = x[first + rows * columns : first + (rows + 1) * columns]
            first += (rows + 1) * columns
            signal = torch.nn.functional.linear(signal, matrix.T, bias)
            if number < len(widths) - 2:
                signal = torch.tanh(signal)
        if oracle.n_classes == 2:
            losses = BINARY(signal[:, 0], labels.to(x.dtype), reduction="none")
        else:
            losses = torch.nn.functional.cross_entropy(signal, labels, reduction="none")
        return (weights * losses).sum() + oracle.ridge / 2 * x.dot(x)

    return loss


def _squares_loss(oracle):
    weights = torch.tensor(oracle.samples.weights())
    rows, responses = torch.tensor(oracle.rows), torch.tensor(oracle.responses)

    def loss(x):
        return (weights * (rows @ x - responses) ** 2).sum() / 2 + oracle.ridge / 2 * x.dot(x)

    return loss


@cache
def _cases() -> tuple[Case, ...]:
    rng = np.random.default_rng(7)
    slope, spectrum = rng.normal(size=5), np.array([0.0, 0.3, 1.0, 2.5])
    optimum, offsets = rng.normal(size=4), rng.normal(size=(3, 4))
    offsets -= offsets.mean(axis=0)
    softmax = LogisticRegression(*_data(40, 3, 4), 4, batch=3, ridge=0.1)
    by_label = shards_by_label(softmax.labels, 3)
    shards = LogisticRegression(*_data(40, 3, 4), 4, batch=2, ridge=0.05, shards=by_label)
    two = LogisticRegression(*_data(30, 4, 2), 2, batch=1, ridge=0.02)
    flat = LogisticRegression(*_data(30, 4, 2), 2, batch=1, ridge=0.0)
    rows = sparse_rows(50, 6, 2, rng)
    squares = LeastSquares(rows, rng.normal(size=50), batch=2)
    uneven = LeastSquares(rows, rng.normal(size=50), 1, 0.3, iid_shards(50, 3, rng))
    deep = MultilayerPerceptron(*_data(25, 3, 3), 3, (5, 4), batch=2, ridge=0.1)
    thin = MultilayerPerceptron(*_data(25, 3, 2), 2, (4,), batch=2)
    scales = torch.tensor(spectrum)
    return (
        Case("linear", Linear(slope), lambda x: x.dot(torch.tensor(slope))),
        Case("linear_noisy", Linear(slope, 2.0), lambda x: x.dot(torch.tensor(slope))),
        Case(
            "quadratic",
            Quadratic(spectrum, 0.5, optimum),
            lambda x: (scales * (x - torch.tensor(optimum)) ** 2).sum() / 2,
        ),
        Case(
            "quadratic_apart",
            Quadratic(spectrum, 0.5, offsets=offsets),
            lambda x: sum((scales * (x - torch.tensor(o)) ** 2).sum() for o in offsets) / 6,
        ),
        Case(
            "geman_mcclure",
            GemanMcClure(np.full(3, 2.0), 0.3),
            lambda x: (1 - 1 / (1 + x**2)).sum(),
        ),
        Case("softmax", softmax, _softmax_loss(softmax)),
        Case("softmax_shards", shards, _softmax_loss(shards)),
        Case("binary", two, _binary_loss(two)),
        Case("binary_flat", flat, _binary_loss(flat)),
        Case("least_squares", squares, _squares_loss(squares)),
        Case("least_squares_shards", uneven, _squares_loss(uneven)),
        Case("perceptron", deep, _network_loss(deep)),
        Case("perceptron_binary", thin, _network_loss(thin)),
    )


case_of_each_kind = pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
with_constants = pytest.mark.parametrize(
    "case",
    [case for case in _cases() if np.isfinite(case.oracle.constants(1.0).smoothness)],
    ids=lambda case: case.name,
)


def _n_workers(oracle):
    if isinstance(oracle, Quadratic):
        return 1 if oracle.offsets is None else len(oracle.offsets)
    shards = getattr(oracle, "shards", None)
    return len(shards.members) if shards else 1


def _ball(oracle, n_points, radius, seed=0):
    """Points in the ball on which constants are claimed, many of them on its surface."""
    rng = np.random.default_rng(seed)
    centre = oracle.minimiser()
    centre = oracle.start() if centre is None else centre
    direction = rng.normal(size=(n_points, oracle.dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    length = radius * np.minimum(1, rng.uniform(0, 1.5, (n_points, 1)))
    return centre + length * direction


def _many_gradients(oracle, point, worker, n_draws=400):
    """Stochastic gradients at one point: all equally likely ones for a batch of one."""
    draws = np.random.default_rng(3).random((n_draws, oracle.draws_per_job))
    if getattr(oracle, "batch", 0) == 1:
        size = oracle.samples.populations()[worker if oracle.shards else 0].size
        draws = (np.arange(size)[:, None] + 0.5) / size
    return oracle.gradient(np.repeat(point[None], len(draws), axis=0), draws, worker)


@case_of_each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_libraries_agree(case, dtype, libraries):
    oracle = case.oracle
    rng = np.random.default_rng(1)
    points = oracle.start() + rng.normal(size=(3, oracle.dimension))
    draws = rng.random((3, oracle.draws_per_job))
    draws.flags.writeable = False  # torch would warn if it were handed over as it is
    results = []
    for library in libraries:
        x = library.array(points, dtype)
        arrays = (oracle.gradient(x, draws, 0), oracle.mean_gradient(x), oracle.loss(x))
        results.append([library.numpy(array) for array in arrays])

    assert [array.dtype for array in results[0]] == [dtype] * 3
    assert [array.shape for array in results[0]] == [points.shape, points.shape, (3,)]
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=tolerance, atol=tolerance)


@case_of_each_kind
def test_gradients_agree_with_autograd(case):
    points = case.oracle.start() + np.random.default_rng(2).normal(size=(4, case.oracle.dimension))

    losses, gradients = case.oracle.loss(points), case.oracle.mean_gradient(points)

    for point, value, gradient in zip(points, losses, gradients, strict=True):
        x = torch.tensor(point, requires_grad=True)
        loss = case.torch_loss(x)
        (expected,) = torch.autograd.grad(loss, x)
        assert value == pytest.approx(loss.item(), rel=1e-12)
        np.testing.assert_allclose(gradient, expected.numpy(), rtol=1e-10, atol=1e-10)


@case_of_each_kind
def test_gradients_agree_with_finite_differences(case):
    """Central differences of step h err by h^2 f''' / 6 and by rounding / h."""
    oracle = case.oracle
    point = oracle.start() + np.random.default_rng(3).normal(size=oracle.dimension)
    steps = 1e-5 * np.eye(oracle.dimension)

    slopes = (oracle.loss(point + steps) - oracle.loss(point - steps)) / 2e-5

    np.testing.assert_allclose(slopes, oracle.mean_gradient(point[None])[0], rtol=1e-6, atol=1e-7)


@case_of_each_kind
def test_the_workers_gradients_average_to_that_of_the_loss(case):
    oracle, n_workers = case.oracle, _n_workers(case.oracle)
    points = _ball(oracle, 3, 1.0)

    mean = sum(oracle.worker_mean_gradient(points, w) for w in range(n_workers)) / n_workers

    np.testing.assert_allclose(mean, oracle.mean_gradient(points), rtol=1e-10, atol=1e-12)


@case_of_each_kind
def test_stochastic_gradients_average_to_the_workers_own_gradient(case):
    """All outcomes of a batch of one; else means of 60,000 within six deviations (rate 1e-8)."""
    oracle = case.oracle
    point = _ball(oracle, 1, 1.0)[0]
    for worker in range(_n_workers(oracle)):
        gradients = _many_gradients(oracle, point, worker, 60000)
        expected = oracle.worker_mean_gradient(point[None], worker)[0]

        exact = getattr(oracle, "batch", 0) == 1 or oracle.draws_per_job == 0
        margin = 1e-11 if exact else 6 * gradients.std(axis=0) / 60000**0.5 + 1e-11
        assert (abs(gradients.mean(axis=0) - expected) <= margin).all()


@case_of_each_kind
def test_replicates_do_not_meet(case):
    """A batch of replicates computes what each of them computes alone."""
    oracle = case.oracle
    points = _ball(oracle, 4, 1.0)
    draws = np.random.default_rng(4).random((4, oracle.draws_per_job))

    together = oracle.gradient(points, draws, 0)

    alone = [oracle.gradient(points[r : r + 1], draws[r : r + 1], 0)[0] for r in range(4)]
    np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-14)


@with_constants
def test_the_minimiser_is_stationary_and_has_the_infimum(case):
    oracle, minimiser = case.oracle, case.oracle.minimiser()
    infimum = oracle.constants(1.0).infimum
    if minimiser is None:
        assert infimum is None
        return

    assert np.linalg.norm(oracle.mean_gradient(minimiser[None])) <= 2e-12
    assert oracle.loss(minimiser[None])[0] == pytest.approx(infimum, abs=1e-14)
    assert (oracle.loss(_ball(oracle, 200, 2.0)) >= infimum - 1e-12).all()


@with_constants
@pytest.mark.parametrize("radius", [0.01, 1.0, 5.0])
def test_no_sampled_pair_violates_smoothness_or_convexity(case, radius):
    oracle, constants = case.oracle, case.oracle.constants(radius)
    near, far = _ball(oracle, 400, radius, 1), _ball(oracle, 400, radius, 2)
    near[:200] = far[:200] + 1e-3 * (near[:200] - far[:200])  # close pairs meet curvature

    difference = oracle.mean_gradient(near) - oracle.mean_gradient(far)
    apart = near - far

    length = np.linalg.norm(apart, axis=1)
    assert (np.linalg.norm(difference, axis=1) <= constants.smoothness * length + 1e-12).all()
    product = (difference * apart).sum(axis=1)
    assert (product >= constants.strong_convexity * length**2 - 1e-12).all()


@with_constants
@pytest.mark.parametrize("radius", [0.0, 0.5, 3.0])
def test_no_sampled_point_violates_variance_or_second_moment(case, radius):
    """Exact for batches of one. Others are means of 400 draws: 1 + 6 sqrt(2 / 400) to spare."""
    oracle, constants = case.oracle, case.oracle.constants(radius)
    slack = 1 + 1e-9 if getattr(oracle, "batch", 0) == 1 else 1.42
    for point in _ball(oracle, 12, radius):
        for worker in range(_n_workers(oracle)):
            gradients = _many_gradients(oracle, point, worker)
            mean = oracle.worker_mean_gradient(point[None], worker)
            variance = ((gradients - mean) ** 2).sum(axis=1).mean()
            moment = (mean**2).sum() + variance

            assert variance <= constants.variance * slack + 1e-12
            assert moment <= constants.second_moment * slack + 1e-12


@with_constants
@pytest.mark.parametrize("radius", [0.0, 0.5, 3.0])
def test_no_sampled_point_violates_heterogeneity(case, radius):
    oracle, constants = case.oracle, case.oracle.constants(radius)

    measured = measured_heterogeneity(oracle, _ball(oracle, 50, radius), _n_workers(oracle))

    assert (measured <= constants.heterogeneity * (1 + 1e-9) + 1e-20).all()
    assert (constants.heterogeneity > 0) == (_n_workers(oracle) > 1)


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
    features, labels = _data(50, 4, 2)
    oracle = LogisticRegression(features, labels, 2, batch=1, ridge=0.5)

    columns = [oracle.hessian_product(np.zeros(4), column) for column in np.eye(4)]

    largest = np.linalg.eigvalsh(np.array(columns))[-1]
    assert oracle.constants(1.0).smoothness == pytest.approx(largest, rel=1e-12)


def test_variance_bound_of_logistic_regression_is_close_at_the_minimiser():
    """At r = 0 only the squared mean gradient is lost: ridge^2 ||x*||^2."""
    data = breast_cancer()
    oracle = LogisticRegression(data.features, data.labels, 2, batch=1, ridge=0.01)
    minimiser = oracle.minimiser()

    gradients = _many_gradients(oracle, minimiser, 0)

    variance = (gradients**2).sum(axis=1).mean()
    lost = (0.01 * np.linalg.norm(minimiser)) ** 2
    assert oracle.constants(0.0).variance == pytest.approx(variance + lost, rel=1e-9)


@given(draws=arrays(np.float64, (3, 4), elements=st.floats(1e-12, 1 - 1e-12)))
def test_noise_is_the_inverse_normal_of_its_uniforms(draws):
    from statistics import NormalDist

    oracle = Quadratic(np.ones(4), 4.0, np.zeros(4))

    noise = oracle.gradient(np.zeros((3, 4)), draws, 0)

    expected = [[NormalDist().inv_cdf(u) for u in row] for row in draws.tolist()]
    np.testing.assert_allclose(noise, expected, rtol=1e-6, atol=1e-6)


def test_a_linear_loss_gives_every_replicate_its_own_row(library):
    gradient = Linear(np.array([3.0, 4.0])).gradient(library.array(np.ones((2, 2))), None, 0)

    assert library.numpy(gradient).tolist() == [[3, 4], [3, 4]]
    assert Linear(np.array([3.0, 4.0])).constants().second_moment == 25.0
    assert Linear(np.array([3.0, 4.0])).draws_per_job == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear(np.array([np.inf])), r"Linear.slope"),
        (lambda: Linear(np.ones(2), -1.0), r"Linear.variance must be a finite number >= 0"),
        (lambda: Quadratic(np.array([-1.0])), r"Quadratic.spectrum"),
        (lambda: Quadratic(np.ones(2), optimum=np.ones(3)), r"Quadratic.optimum"),
        (lambda: Quadratic(np.ones(2), offsets=np.ones((2, 2))), r"Quadratic.offsets .*sum zero"),
        (lambda: GemanMcClure(np.ones((1, 1))), r"GemanMcClure.initial"),
        (lambda: LogisticRegression(*_data(9, 2, 3), 2, 1, 0.1), r"LogisticRegression.labels"),
        (lambda: LogisticRegression(*_data(9, 2, 3), 3, 0, 0.1), r"LogisticRegression.batch"),
        (lambda: LogisticRegression(*_data(9, 2, 3), 3, 1, -0.1), r"LogisticRegression.ridge"),
        (
            lambda: LogisticRegression(
                *_data(9, 2, 3), 3, 1, 0.1, iid_shards(8, 2, np.random.default_rng(0))
            ),
            r"LogisticRegression.shards must be None or Shards of 9 samples",
        ),
        (lambda: LeastSquares(np.ones((3, 2)), np.ones(2)), r"LeastSquares.responses"),
        (lambda: MultilayerPerceptron(*_data(9, 2, 3), 3, (0,), 1), r"MultilayerPerceptron.hidden"),
    ],
)
def test_bad_problems_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
