"""Placing constants beside arrays in use, norms, and Newton's method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from elastic_consistency.optimization.arrays import like, norms, squared_norms
from elastic_consistency.optimization.compression.selection import largest_entries
from elastic_consistency.optimization.oracles.newton import newton_minimiser


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constants_take_library_and_precision_from_their_reference(dtype, library):
    values = np.array([1.0, 2.0])
    values.flags.writeable = False

    placed = like(library.array([0.0], dtype), values)

    assert library.numpy(placed).dtype == dtype
    assert library.numpy(placed).tolist() == [1, 2]


def test_a_constant_that_fits_is_not_copied():
    values = np.array([1.0, 2.0])

    assert like(np.zeros(1), values) is values


@given(
    x=arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, max_side=8),
        elements=st.floats(-1e300, 1e300),
    )
)
def test_norms_neither_overflow_nor_underflow(x):
    from math import hypot

    expected = [hypot(*row) for row in x.tolist()]

    np.testing.assert_allclose(norms(x), expected, rtol=1e-12)


def test_norms_show_what_is_not_finite(library):
    x = library.array([[np.inf, 1.0], [np.nan, 1.0], [0.0, 0.0], [3.0, -4.0]])

    result = library.numpy(norms(x))

    assert result[0] == np.inf
    assert np.isnan(result[1])
    assert result[2:].tolist() == [0, 5]
    assert library.numpy(squared_norms(x))[3] == 25


@given(
    scores=arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, max_side=8),
        elements=st.sampled_from([0.0, 1.0, 2.0, np.inf, np.nan]),
    ),
    data=st.data(),
)
def test_exactly_the_asked_number_of_entries_is_selected(scores, data):
    count = data.draw(st.integers(1, scores.shape[1]))

    chosen = largest_entries(scores, count)

    assert (chosen.sum(axis=1) == count).all()
    rated = np.where(np.isnan(scores), np.inf, scores)
    for row, picked in zip(rated, chosen, strict=True):
        if picked.all():
            continue
        assert row[picked].min() >= row[~picked].max()


def test_newton_halves_steps_that_overshoot():
    """The gradient arctan(x - i): full steps from further than 1.39 away diverge."""
    target = np.arange(3.0)

    found = newton_minimiser(
        lambda x: np.arctan(x - target),
        lambda x, v: v / (1 + (x - target) ** 2),
        np.full(3, 20.0),
    )

    np.testing.assert_allclose(found, target, atol=1e-12)


def test_newton_says_when_it_fails():
    with pytest.raises(ArithmeticError, match=r"tolerance 1.00e-12"):
        newton_minimiser(lambda x: x - 1e3, lambda x, v: 1e6 * v, np.zeros(1), max_steps=3)
    with pytest.raises(ArithmeticError, match="stalls"):
        newton_minimiser(lambda x: np.ones(1), lambda x, v: v, np.zeros(1))
