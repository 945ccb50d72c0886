"""Error feedback: its identity, and the residuals that theory predicts."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elastic_consistency.optimization.compression import (
    QSGD,
    ErrorFeedback,
    Identity,
    RandomK,
    ScaledSign,
    Scaling,
    TopK,
)

dyadic = st.integers(-64, 64).map(lambda n: n / 8)
sequences = arrays(np.float64, (5, 2, 6), elements=st.floats(-1e3, 1e3))


def _residuals(codec, vectors, draws):
    """(T, R, d) residuals after every vector, and all that was sent."""
    feedback = ErrorFeedback(codec)
    state, residuals, sent = feedback.initial(vectors[0]), [], []
    for number, vector in enumerate(vectors):
        update, state = feedback.encode(state, vector, draws(number, len(vector)))
        residuals.append(state[1])
        sent.append(update)
    return np.array(residuals), np.array(sent)


def _is_the_best_number(old, vector, update, residual):
    """The new e is the number nearest to the exact (e + w) - u: that one, if it is a number."""
    exact = Fraction(float(old + vector)) - Fraction(float(update))
    return residual == float(exact)


@pytest.mark.parametrize("codec", [Identity(), TopK(2), RandomK(2)], ids=repr)
@given(vectors=sequences)
def test_update_and_residual_add_up_exactly_for_selection(codec, vectors, draws):
    residuals, sent = _residuals(codec, vectors, draws)

    before = np.concatenate([np.zeros((1, 2, 6)), residuals[:-1]])
    assert (sent + residuals == before + vectors).all()


@pytest.mark.parametrize("codec", [Scaling(0.25), ScaledSign(), QSGD(3)], ids=repr)
@given(vectors=sequences)
def test_update_and_residual_add_up_wherever_a_number_can_do_it(codec, vectors, draws):
    residuals, sent = _residuals(codec, vectors, draws)

    before = np.concatenate([np.zeros((1, 2, 6)), residuals[:-1]])
    quadruples = zip(before.flat, vectors.flat, sent.flat, residuals.flat, strict=True)
    assert all(_is_the_best_number(*numbers) for numbers in quadruples)


def test_no_residual_makes_one_scale_add_up_for_every_input(draws):
    """The sign of (1, 1e-30) is sent as about 1/2 twice; 1e-30 - 1/2 is between two numbers."""
    vector = np.array([[1.0, 1e-30]])
    residuals, sent = _residuals(ScaledSign(), vector[None], draws)

    small, update, residual = vector[0, 1], sent[0, 0, 1], residuals[0, 0, 1]
    exact = Fraction(small) - Fraction(update)
    neighbours = np.nextafter(residual, -np.inf), np.nextafter(residual, np.inf)
    assert Fraction(neighbours[0]) < exact < Fraction(neighbours[1])
    assert Fraction(residual) != exact


@given(vectors=arrays(np.float64, (5, 2, 4), elements=dyadic))
def test_the_identity_is_exact_on_dyadic_numbers(vectors, draws):
    """d = 4 and gamma = 1/4 keep every number dyadic and short."""
    for codec in (Scaling(0.25), ScaledSign(), TopK(1)):
        residuals, sent = _residuals(codec, vectors, draws)

        assert (np.cumsum(sent, axis=0) + residuals == np.cumsum(vectors, axis=0)).all()


@given(vectors=sequences, gamma=st.floats(0, 0.9))
def test_residual_of_scaling_is_a_geometric_sum(vectors, gamma, draws):
    """e_t = sum_s sqrt(gamma)^(t - s + 1) w_s, the whole history in one formula."""
    residuals, _ = _residuals(Scaling(gamma), vectors, draws)

    ages = np.subtract.outer(np.arange(5), np.arange(5))
    weights = np.where(ages >= 0, sqrt(gamma) ** (np.maximum(ages, 0) + 1), 0.0)
    expected = np.einsum("ts,srd->trd", weights, vectors)
    np.testing.assert_allclose(residuals, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("gamma", "target"), [(0.5, 2.4142), (0.9, 18.4868), (0.99, 198.4987)])
def test_scaling_attains_the_bound_under_a_constant_gradient(gamma, target, draws):
    vectors = np.ones((6000, 1, 1))

    residuals, _ = _residuals(Scaling(gamma), vectors, draws)

    bound = sqrt(gamma) / (1 - sqrt(gamma))
    assert bound == pytest.approx(target, abs=5e-5)
    assert residuals.max() == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize(("d", "k"), [(32, 1), (64, 2), (12, 3)])
def test_top_k_builds_its_ramp_under_a_flat_gradient(d, k, draws):
    """Ages 0 ... n - 1 in equal shares: sqrt((n - 1)(2n - 1) / 6) M with n = d / K."""
    vectors = np.full((4 * d, 1, d), 1 / sqrt(d))

    residuals, _ = _residuals(TopK(k), vectors, draws)

    n = d // k
    ramp = sqrt((n - 1) * (2 * n - 1) / 6)
    assert np.linalg.norm(residuals[-1]) == pytest.approx(ramp, rel=1e-9)
    if n == 32:
        assert ramp == pytest.approx(18.0416, abs=5e-5)


@given(vectors=sequences)
@pytest.mark.parametrize("codec", [TopK(2), ScaledSign(), Scaling(0.3)], ids=repr)
def test_residuals_never_exceed_the_bound_of_a_contraction(codec, vectors, draws):
    residuals, _ = _residuals(codec, vectors, draws)

    root = sqrt(codec.contraction(6))
    largest = np.linalg.norm(vectors, axis=2).max()
    assert np.linalg.norm(residuals, axis=2).max() <= root / (1 - root) * largest * (1 + 1e-9)


@given(vectors=sequences)
def test_error_feedback_on_the_identity_leaves_nothing(vectors, draws):
    residuals, sent = _residuals(Identity(), vectors, draws)

    assert (residuals == 0).all()
    assert (sent == vectors).all()


def test_typical_residuals_of_normal_gradients(draws):
    """d = 1000: TopK with K = 10 keeps about 4.0 M, with 100 about 1.17 M, the sign .77 M.

    Single runs on record; 10 % tells them apart from one another and from the bounds.
    """
    vectors = np.random.default_rng(5).normal(size=(600, 1, 1000)) / sqrt(1000)
    for codec, typical in ((TopK(10), 4.0), (TopK(100), 1.17), (ScaledSign(), 0.77)):
        residuals, _ = _residuals(codec, vectors, draws)

        late = np.linalg.norm(residuals[300:], axis=2).mean()
        assert late == pytest.approx(typical, rel=0.1)


def test_three_events_by_hand(library, draws):
    """TopK(1) on the constant (4, 3): 4; then 6 of (4, 6); then 8 of (8, 3)."""
    feedback = ErrorFeedback(TopK(1))
    vector = library.array([[4, 3]])
    state, seen = feedback.initial(vector), []
    for _ in range(3):
        sent, state = feedback.encode(state, vector, draws(0, 1))
        seen.append((library.numpy(sent).tolist()[0], library.numpy(state[1]).tolist()[0]))

    assert seen == [([4, 0], [0, 3]), ([0, 6], [4, 0]), ([8, 0], [0, 3])]
