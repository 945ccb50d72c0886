"""Every oracle: gradients against finite differences and autograd, and their averages."""

from statistics import NormalDist

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracle_cases import CASES, labelled_data

from elastic_consistency.optimization.oracles import (
    GemanMcClure,
    LeastSquares,
    Linear,
    LogisticRegression,
    MultilayerPerceptron,
    Quadratic,
    iid_shards,
)

case_of_each_kind = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


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
    oracle, n_workers = case.oracle, case.n_workers
    points = case.ball(3, 1.0)

    mean = sum(oracle.worker_mean_gradient(points, w) for w in range(n_workers)) / n_workers

    np.testing.assert_allclose(mean, oracle.mean_gradient(points), rtol=1e-10, atol=1e-12)


@case_of_each_kind
def test_stochastic_gradients_average_to_the_workers_own_gradient(case):
    """All outcomes of a batch of one; else means of 60,000 within six deviations (rate 1e-8)."""
    oracle = case.oracle
    point = case.ball(1, 1.0)[0]
    for worker in range(case.n_workers):
        gradients = case.gradients(point, worker, 60000)
        expected = oracle.worker_mean_gradient(point[None], worker)[0]

        margin = 1e-11 if case.every_outcome else 6 * gradients.std(axis=0) / 60000**0.5 + 1e-11
        assert (abs(gradients.mean(axis=0) - expected) <= margin).all()


@case_of_each_kind
def test_replicates_do_not_meet(case):
    """A batch of replicates computes what each of them computes alone."""
    oracle = case.oracle
    points = case.ball(4, 1.0)
    draws = np.random.default_rng(4).random((4, oracle.draws_per_job))

    together = oracle.gradient(points, draws, 0)

    alone = [oracle.gradient(points[r : r + 1], draws[r : r + 1], 0)[0] for r in range(4)]
    np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-14)


@given(draws=arrays(np.float64, (3, 4), elements=st.floats(1e-12, 1 - 1e-12)))
def test_noise_is_the_inverse_normal_of_its_uniforms(draws):
    oracle = Quadratic(np.ones(4), 4.0, np.zeros(4))

    noise = oracle.gradient(np.zeros((3, 4)), draws, 0)

    expected = [[NormalDist().inv_cdf(u) for u in row] for row in draws.tolist()]
    np.testing.assert_allclose(noise, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_huge_logits_overflow_nowhere(n_classes, library):
    """Every sample costs its own logit gap, and its gradient is at most sqrt(2) ||x||."""
    oracle = LogisticRegression(*labelled_data(12, 2, n_classes), n_classes, batch=12, ridge=0.0)
    x = library.array(1e5 * np.ones((1, oracle.dimension)) * np.arange(1, oracle.dimension + 1))

    loss, gradient = library.numpy(oracle.loss(x)), library.numpy(oracle.mean_gradient(x))

    logits = oracle.features @ library.numpy(x).reshape(2, -1)
    logits = np.hstack([np.zeros((12, 1)), logits]) if n_classes == 2 else logits
    gaps = logits.max(axis=1) - logits[np.arange(12), oracle.labels]
    assert loss.item() == pytest.approx(gaps.mean(), rel=1e-9)
    assert np.linalg.norm(gradient) <= 2**0.5 * np.linalg.norm(oracle.features, axis=1).max()


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
        (
            lambda: LogisticRegression(*labelled_data(9, 2, 3), 2, 1, 0.1),
            r"LogisticRegression.labels",
        ),
        (
            lambda: LogisticRegression(*labelled_data(9, 2, 3), 3, 0, 0.1),
            r"LogisticRegression.batch",
        ),
        (
            lambda: LogisticRegression(*labelled_data(9, 2, 3), 3, 1, -0.1),
            r"LogisticRegression.ridge",
        ),
        (
            lambda: LogisticRegression(
                *labelled_data(9, 2, 3), 3, 1, 0.1, iid_shards(8, 2, np.random.default_rng(0))
            ),
            r"LogisticRegression.shards must be None or Shards of 9 samples",
        ),
        (lambda: LeastSquares(np.ones((3, 2)), np.ones(2)), r"LeastSquares.responses"),
        (
            lambda: MultilayerPerceptron(*labelled_data(9, 2, 3), 3, (0,), 1),
            r"MultilayerPerceptron.hidden",
        ),
    ],
)
def test_bad_problems_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
