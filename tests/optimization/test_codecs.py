"""Codecs: identities for all inputs, restatements of other structure, edges of the domain."""

from fractions import Fraction
from math import ceil, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from elastic_consistency.optimization.compression import (
    QSGD,
    ErrorFeedback,
    Identity,
    Metered,
    RandomK,
    ScaledSign,
    Scaling,
    TopK,
)

CODECS = [
    Identity(),
    Scaling(0.25),
    TopK(3),
    RandomK(3),
    RandomK(3, unbiased=True),
    ScaledSign(),
    QSGD(4),
    ErrorFeedback(TopK(3)),
    Metered(TopK(3)),
    ErrorFeedback(Metered(ScaledSign())),
]
codec_of_each_kind = pytest.mark.parametrize("codec", CODECS, ids=repr)
SELECTING = [Identity(), TopK(3), RandomK(3)]

# Squares of smaller numbers underflow in the plain formulas of this file.
finite = st.floats(-1e6, 1e6).map(lambda value: value if abs(value) > 1e-100 else 0.0)
vectors = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=finite)
# Many ties and zeros, and every difference of two of them is exact.
dyadic = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 0.25]),
)


def _encode(codec, vector, draws, seed=0):
    sent, _ = codec.encode(codec.initial(vector), vector, draws(seed, vector.shape[0]))
    return sent


@codec_of_each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_libraries_agree(codec, dtype, libraries, draws):
    """Bit for bit where nothing is summed; a sum has the order of its library."""
    values = np.random.default_rng(0).normal(size=(4, 9))
    results = []
    for library in libraries:
        vector = library.array(values, dtype)
        state = codec.initial(vector)
        for seed in (1, 2):
            sent, state = codec.encode(state, vector, draws(seed, 4))
        results.append(library.numpy(sent))

    assert results[0].dtype == dtype
    if "ScaledSign" in repr(codec) or "QSGD" in repr(codec):
        tolerance = 1e-13 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(results[1], results[0], rtol=tolerance)
    else:
        assert results[1].tobytes() == results[0].tobytes()
    assert results[2].tobytes() == results[0].tobytes()


@pytest.mark.parametrize(
    "codec", [codec for codec in CODECS if not isinstance(codec, RandomK | QSGD)], ids=repr
)
@given(vector=vectors | dyadic)
def test_the_worst_case_contraction_holds(codec, vector, draws):
    """For random codecs it holds on average only; those have tests of their own."""
    d = vector.shape[1]

    left = ((_encode(codec, vector, draws) - vector) ** 2).sum(axis=1)

    whole = (vector**2).sum(axis=1)
    assert (left <= codec.contraction(d) * whole * (1 + 1e-9) + 1e-300).all()


@given(vector=vectors | dyadic, k=st.integers(1, 15))
def test_top_k_equals_sorting_on_plain_numbers(vector, k, draws):
    expected = []
    for row in vector.tolist():
        order = sorted(range(len(row)), key=lambda i: (-abs(row[i]), i))[:k]
        expected.append([row[i] if i in order else 0.0 for i in range(len(row))])

    assert _encode(TopK(k), vector, draws).tolist() == expected


@given(vector=vectors, seed=st.integers(0, 2**32))
def test_random_k_keeps_k_coordinates_whatever_their_size(vector, seed, draws):
    vector = vector + (vector == 0)
    sent = _encode(RandomK(3), vector, draws, seed)

    kept = sent != 0
    scores = draws(seed, len(vector))(vector.shape[1])
    order = np.argsort(scores, axis=1)[:, ::-1][:, :3]
    assert (np.sort(order) == [np.flatnonzero(row) for row in kept]).all()
    assert (sent[kept] == vector[kept]).all()
    scaled = _encode(RandomK(3, unbiased=True), vector, draws, seed)
    np.testing.assert_allclose(scaled, sent * max(vector.shape[1] / 3, 1))


def test_random_k_draws_every_subset_equally_often(draws):
    """Exact expectation over a fine grid of uniforms would be 1/6 each.

    36,000 draws; a subset's count has deviation 71, and 6 of those fail at rate 1e-8.
    """
    sent = _encode(RandomK(2), np.ones((36000, 4)), draws)

    subsets, counts = np.unique(sent, axis=0, return_counts=True)
    assert len(subsets) == 6
    assert (abs(counts - 6000) < 6 * 71).all()


@given(vector=vectors | dyadic)
def test_scaled_sign_equals_its_formula_on_exact_numbers(vector, draws):
    sent = _encode(ScaledSign(), vector, draws)

    for row, result in zip(vector.tolist(), sent.tolist(), strict=True):
        scale = sum(abs(Fraction(value)) for value in row) / len(row)
        expected = [float(-scale if value < 0 else scale) for value in row]
        assert result == pytest.approx(expected, rel=1e-13, abs=1e-300)


def test_scaled_sign_leaves_two_pi_less_of_normal_vectors(draws):
    """1 - (E|z|)^2 / E z^2 = 1 - 2 / pi; one vector with d = 2e5 deviates by about 1e-3."""
    vector = np.random.default_rng(1).normal(size=(1, 200000))

    sent = _encode(ScaledSign(), vector, draws)

    ratio = ((sent - vector) ** 2).sum() / (vector**2).sum()
    assert ratio == pytest.approx(1 - 2 / np.pi, abs=0.01)


def _exact_moments(vector, levels):
    """Mean and variance of one QSGD coordinate by its two outcomes, from the paper."""
    norm = sqrt(sum(v * v for v in vector))
    means, variance = [], 0.0
    for v in vector:
        low = min(int(levels * abs(v) / norm), levels - 1) if norm else 0
        outcomes = [norm * low / levels, norm * (low + 1) / levels]
        p = levels * abs(v) / norm - low if norm else 0.0
        mean = (1 - p) * outcomes[0] + p * outcomes[1]
        means.append(np.sign(v) * mean)
        variance += (1 - p) * (outcomes[0] - mean) ** 2 + p * (outcomes[1] - mean) ** 2
    return means, variance


@given(
    vector=arrays(np.float64, st.integers(1, 12), elements=finite),
    levels=st.integers(1, 20),
)
def test_qsgd_is_unbiased_with_the_stated_variance(vector, levels):
    """Integrated over a grid of the uniform: exact up to 1 / (2 * number of grid points)."""
    n_grid = 4000
    grid = (np.arange(n_grid) + 0.5) / n_grid
    whole = np.repeat(vector[None], n_grid, axis=0)

    sent, _ = QSGD(levels).encode(
        None, whole, lambda width: np.repeat(grid[:, None], width, axis=1)
    )

    norm, d = np.linalg.norm(vector), len(vector)
    means, variance = _exact_moments(vector.tolist(), levels)
    step = norm / levels
    np.testing.assert_allclose(means, vector, rtol=1e-9, atol=1e-9 * norm)
    np.testing.assert_allclose(sent.mean(axis=0), vector, atol=step / n_grid + 1e-12 * norm)
    measured = ((sent - vector) ** 2).mean(axis=0).sum()
    assert measured == pytest.approx(variance, abs=2 * d * step**2 / n_grid + 1e-12)
    assert variance <= QSGD(levels).contraction(d) * norm**2 * (1 + 1e-9) + 1e-300
    assert QSGD(levels).contraction(d) <= min(d / levels**2, sqrt(d) / levels)


@pytest.mark.parametrize("levels", [1, 3, 8])
def test_qsgd_sends_levels_only(levels, draws):
    vector = np.random.default_rng(2).normal(size=(5, 40))

    sent = _encode(QSGD(levels), vector, draws)

    multiples = levels * sent / np.linalg.norm(vector, axis=1, keepdims=True)
    np.testing.assert_allclose(multiples, np.round(multiples), atol=1e-9)


@given(vector=vectors | dyadic, gamma=st.floats(0, 0.99))
def test_scaling_attains_its_contraction(vector, gamma, draws):
    sent = _encode(Scaling(gamma), vector, draws)

    left = ((sent - vector) ** 2).sum(axis=1)
    np.testing.assert_allclose(left, gamma * (vector**2).sum(axis=1), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_only_fixed_multiples_call_themselves_linear(codec, draws):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 3, 12))

    together = _encode(codec, a + b, draws, 1)
    apart = _encode(codec, a, draws, 1) + _encode(codec, b, draws, 2)

    assert np.allclose(together, apart, rtol=1e-12) == codec.linear


@codec_of_each_kind
def test_the_zero_vector_stays_zero(codec, library, draws):
    sent = _encode(codec, library.array(np.zeros((2, 6))), draws)

    assert (library.numpy(sent) == 0).all()


@codec_of_each_kind
@pytest.mark.parametrize("d", [1, 3])
def test_few_coordinates_are_all_kept_by_selection(codec, d, library, draws):
    """K = d and d = 1: TopK and random-K are the identity, a sign with its scale at d = 1 too."""
    values = np.array([[1.5, -2.0, 0.5][:d]])

    sent = library.numpy(_encode(codec, library.array(values), draws))

    if "K(" in repr(codec) or isinstance(codec, Identity) or ("Sign" in repr(codec) and d == 1):
        assert sent.tolist() == values.tolist()
        assert codec.contraction(d) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "codec", [codec for codec in CODECS if not isinstance(codec, RandomK)], ids=repr
)
def test_a_vector_that_is_not_finite_never_looks_healthy(codec, bad, library, draws):
    values = np.array([[bad, 3.0, 2.0, 1.0, -4.0]])

    with np.errstate(invalid="ignore"):  # residuals and ratios are infinity minus infinity
        sent = library.numpy(_encode(codec, library.array(values), draws))

    assert not np.isfinite(sent).all()
    if isinstance(codec, TopK):
        assert np.isfinite(sent[0, 1:]).all()
        assert np.isnan(sent[0, 0]) if np.isnan(bad) else sent[0, 0] == bad
    if isinstance(codec, QSGD):
        assert np.isnan(sent).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_random_k_sends_what_is_not_finite_when_it_draws_it(bad, library, draws):
    sent = library.numpy(_encode(RandomK(1), library.array(np.full((50, 2), [bad, 1.0])), draws))

    drawn = ~np.isfinite(sent[:, 0])
    assert 0 < drawn.sum() < 50
    assert (sent[drawn, 1] == 0).all()
    assert (sent[~drawn] == [0, 1]).all()


def test_ties_keep_the_lowest_index(library, draws):
    values = [[1.0, -1.0, 1.0, 1.0], [0.0, 2.0, -2.0, 2.0]]

    sent = library.numpy(_encode(TopK(2), library.array(values), draws))

    assert sent.tolist() == [[1.0, -1.0, 0.0, 0.0], [0.0, 2.0, -2.0, 0.0]]


@pytest.mark.parametrize(
    ("codec", "expected"),
    [
        (Identity(), 4000),
        (Scaling(0.5), 4000),
        (TopK(10), 10 * 4 + ceil(10 * 10 / 8)),  # ten bits a position among 1000
        (TopK(500), 500 * 4 + 125),  # a bitmap is shorter
        (TopK(2000), 4000),
        (RandomK(10), 40),
        (ScaledSign(), 4 + 125),
        (QSGD(1), 4 + ceil(1000 * log2(3) / 8)),
        (ErrorFeedback(TopK(10)), 53),
        (Metered(ScaledSign()), 129),
    ],
    ids=repr,
)
def test_bytes_on_the_wire(codec, expected):
    assert codec.wire_bytes(1000, 4) == expected


@codec_of_each_kind
def test_costs_are_finite_and_grow(codec):
    assert 0 <= codec.encode_operations(10) <= codec.encode_operations(1000) < 1e6
    assert codec.encode_operations(1000) > 0 or isinstance(codec, Identity)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TopK(0), r"TopK.k must be a number of coordinates >= 1, got 0."),
        (lambda: RandomK(-1), r"RandomK.k"),
        (lambda: QSGD(0), r"QSGD.levels"),
        (lambda: Scaling(1.0), r"Scaling.gamma must be a number in \[0, 1\), got 1.0."),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(first=vectors, seed=st.integers(0, 100))
def test_the_meter_records_what_occurred(first, seed, draws):
    codec = Metered(TopK(2))
    state, ratios = codec.initial(first), []
    for vector in (first, np.zeros_like(first), first[:, ::-1] ** 2):
        sent, state = codec.encode(state, vector, draws(seed, len(first)))
        with np.errstate(invalid="ignore"):
            largest = np.abs(vector).max(axis=1, keepdims=True)  # squares of tiny numbers are 0
            lost, whole = (sent - vector) / largest, vector / largest
            ratios.append((lost**2).sum(1) / (whole**2).sum(1))

    _, record = state
    counted = np.nan_to_num(ratios)
    np.testing.assert_allclose(record.largest, counted.max(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        record.mean() * np.maximum(record.count, 1), counted.sum(axis=0), rtol=1e-9, atol=1e-12
    )
    assert (record.count == np.isfinite(ratios).sum(axis=0)).all()
