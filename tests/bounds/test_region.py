"""Signs on a region are decided exactly, and never claimed where they do not hold."""

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs.region import Region

STEP = Region((sp.Le(s.alpha, 1 / s.L),))


@pytest.mark.parametrize(
    ("region", "expression", "expected"),
    [
        (STEP, 1 - s.L * s.alpha, True),
        (STEP, 1 - 2 * s.L * s.alpha, False),
        (STEP, s.L * s.alpha - 1, False),
        (Region((sp.Lt(s.gamma, 1),)), 1 - sp.sqrt(s.gamma), True),
        (Region((sp.Lt(s.gamma, 1),)), sp.Rational(9, 10) - sp.sqrt(s.gamma), False),
        (Region((sp.Ge(s.n, 1, evaluate=False),)), s.n - 1, True),
        (Region(()), s.n - 1, False),
        (Region((sp.Ge(s.n, 2, evaluate=False),)), s.n**2 - 4, True),
        (Region((sp.Le(s.c, s.L), sp.Le(s.alpha, 1 / (2 * s.L)))), 1 - s.alpha * s.c, True),
        (Region((sp.Le(s.K, s.d),)), 1 - s.K / s.d, True),
        (Region((sp.Ge(s.tau, 1, evaluate=False), sp.Le(s.tau, 3))), 3 - s.tau, True),
        (Region((sp.Ge(s.tau, 1, evaluate=False), sp.Le(s.tau, 3))), 2 - s.tau, False),
    ],
)
def test_signs_of_linear_cases(region, expression, expected):
    assert region.proves_nonnegative(expression) is expected


def test_a_double_root_inside_is_no_obstacle():
    """(s^2 + s - 1)^2 vanishes at the golden ratio: coefficients have both signs."""
    root = sp.sqrt(s.gamma)

    assert Region((sp.Lt(s.gamma, 1),)).proves_nonnegative(sp.expand((s.gamma + root - 1) ** 2))


def test_a_polynomial_without_positive_roots_is_decided_by_counting_them():
    x = s.tau

    assert Region(()).proves_nonnegative(x**2 - x + 1)
    assert not Region(()).proves_nonnegative(x**2 - 3 * x + 1)


def test_a_simple_root_inside_is_refused():
    assert not Region(()).proves_nonnegative((s.tau - 1) ** 3)


def test_a_symbol_of_unknown_sign_is_refused():
    assert not Region(()).proves_nonnegative(sp.Symbol("free") ** 2 + sp.Symbol("free"))


@pytest.mark.parametrize(
    ("region", "expression", "expected"),
    [
        (Region((sp.Lt(s.gamma, 1),)), 1 - s.gamma, True),
        (Region((sp.Le(s.mu, 1),)), 1 - s.mu, False),
        (Region((sp.Lt(s.gamma, 1),)), s.gamma, False),
        (Region((sp.Le(s.beta, 1),)), s.beta, False),
        (Region(()), s.n, True),
        (Region((sp.Ge(s.n, 1, evaluate=False),)), s.n - 1, False),
        (Region((sp.Gt(s.n, 1, evaluate=False),)), s.n - 1, True),
        (Region((sp.Ge(s.tau, 1, evaluate=False), sp.Lt(s.tau, 3))), s.tau - 1, False),
    ],
)
def test_positive_means_positive_at_the_ends_as_well(region, expression, expected):
    assert region.proves_positive(expression) is expected


def test_an_assumption_must_be_solved_for_a_symbol():
    with pytest.raises(ValueError, match="lone symbol"):
        Region((sp.Le(s.alpha * s.L, 1),)).proves_nonnegative(s.alpha)


def test_a_symbol_has_at_most_one_limit_on_each_side():
    region = Region((sp.Le(s.alpha, 1 / s.L), sp.Le(s.alpha, 1 / s.c)))

    with pytest.raises(ValueError, match="once from each side"):
        region.proves_nonnegative(s.alpha)


@given(
    st.lists(st.integers(-3, 3), min_size=2, max_size=5),
    st.fractions(0, 3, max_denominator=7),
)
def test_what_is_proved_nonnegative_is_so_at_every_point(coefficients, point):
    """Random polynomials in alpha on alpha <= 3: a proof never contradicts a value."""
    polynomial = sum(c * s.alpha**power for power, c in enumerate(coefficients))
    region = Region((sp.Le(s.alpha, 3),))

    if region.proves_nonnegative(polynomial) and point > 0:
        assert polynomial.subs(s.alpha, sp.Rational(point)) >= 0
    if region.proves_positive(polynomial) and point > 0:
        assert polynomial.subs(s.alpha, sp.Rational(point)) > 0


def test_powers_with_symbolic_exponents_are_only_known_to_be_nonnegative():
    region = Region((sp.Le(s.alpha, 1 / s.L),))
    power = (1 - s.alpha * s.L) ** s.T

    assert region.proves_nonnegative(power)
    assert not region.proves_nonnegative(sp.Rational(1, 2) - power)
