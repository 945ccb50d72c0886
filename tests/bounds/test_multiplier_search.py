"""The linear programme finds the multipliers of the certificates, and better ones if there are."""

import pytest
import sympy as sp

from elastic_consistency.bounds import get, lemmas
from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.multiplier_search import (
    recognise,
    search,
    search_catalogue,
    young_squares,
)
from elastic_consistency.bounds.steps import Combination
from elastic_consistency.bounds.strongly_convex_contraction import split_at_the_view
from elastic_consistency.bounds.vectors import nonnegative_atom, point, vector

POINTS = (
    {"L": 1.0, "alpha": 0.5, "B": 1.0, "sigma": 1.0},
    {"L": 2.0, "alpha": 0.3, "B": 1.0, "sigma": 0.5},
    {"L": 0.7, "alpha": 1.1, "B": 2.0, "sigma": 1.0},
)


def one_step(name):
    return get(name).derivation.steps[0]


def test_the_multipliers_of_nc1_are_found_and_recognised():
    step = one_step("nonconvex_single_step")
    found = [search(step, point) for point in POINTS]

    for position, (multiplier, _) in enumerate(step.terms):
        numbers = [one.multipliers[position] for one in found]
        assert recognise(POINTS, numbers) == multiplier


@pytest.mark.parametrize("step_size", [1.0, 0.5, 0.1])
def test_no_young_parameter_improves_nc1_at_its_own_left_side(step_size):
    """NC1 is attained termwise, so no premise on random quadratics can help at alpha = 1/L."""
    x, v = point("x"), point("v")
    squares = young_squares(x.gradient, x.gradient - v.gradient, [0.1, 0.3, 1.0, 2.0, 5.0])
    values = {"L": 1.0, "alpha": step_size, "B": 1.0, "sigma": 1.0}
    found = search(one_step("nonconvex_single_step"), values, further=squares)

    assert found.gain == pytest.approx(0.0, abs=1e-9)


def test_a_padded_constant_is_found_out():
    """Ten percent too much in the claim: the search saves a share of 1 - 1/1.1."""
    step = one_step("nonconvex_single_step")
    padded = Combination(step.name, (step.lhs, sp.Rational(11, 10) * step.rhs), step.terms)

    assert search(padded, POINTS[0]).gain == pytest.approx(1 - 1 / 1.1)


def test_premises_that_prove_nothing_give_nothing():
    step = Combination("none", (nonnegative_atom("r"), sp.S.Zero), ())
    with_premise = Combination("none", step.goal, ((1, lemmas.variance(vector("noise"))),))

    assert search(with_premise, POINTS[0]) is None


def test_cocoercivity_at_the_view_improves_sc1():
    """This is how SC3 was found: at L/c = 10 the gap term of SC1 shrinks by more than half."""
    values = {"L": 1.0, "c": 0.1, "alpha": 0.05, "B": 1.0, "sigma": 0.0}
    further = [premise for _, premise in split_at_the_view(s.alpha)]
    found = search(one_step("strongly_convex_single_step"), values, further=further)

    assert found.gain > 0.5


def test_no_step_of_the_catalogue_can_be_improved_with_its_own_premises():
    """SCp3 shows alpha where w_t alpha would do: up to .13 % at partial participation."""
    gains = search_catalogue()
    partial = gains.pop("strongly_convex_parallel_at_view")

    assert 0 <= partial < 2e-3
    assert all(abs(gain) < 1e-7 for gain in gains.values())


def test_what_is_no_monomial_is_not_recognised():
    assert recognise(POINTS, [1.0, 2.0, 4.0]) is None
