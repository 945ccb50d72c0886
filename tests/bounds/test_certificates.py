"""A certificate accepts the bound it proves and refuses everything that claims more."""

from dataclasses import replace

import pytest
import sympy as sp

from elastic_consistency.bounds import AssumptionError, DerivationError, get, list_bounds
from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.region import Region
from elastic_consistency.bounds.proofs.steps import Combination, VectorIdentity
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import nonnegative_atom, norm, signed_atom, vector
from elastic_consistency.bounds.requirements import Requirement

NAMES = tuple(bound.name for bound in list_bounds() if bound.proof is not None)


@pytest.mark.parametrize("name", NAMES)
def test_the_certificate_of_each_bound_holds(name):
    assert get(name).verify() >= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_derivation_ends_in_its_bound_and_not_in_a_tenth_less(name):
    bound = get(name)
    derivation = bound.derivation
    last = replace(derivation, steps=derivation.steps[-1:])

    with pytest.raises(DerivationError, match=r"the bound claims|must be an earlier step"):
        last.check(sp.Rational(9, 10) * bound.expression, bound.region)


@pytest.mark.parametrize(
    "name", ["server_started_gap", "error_feedback_gap", "nonconvex_single_step", "topk_gap"]
)
def test_a_bound_that_claims_ten_percent_more_is_refused(name):
    bound = get(name)

    with pytest.raises(DerivationError, match="the bound claims"):
        replace(bound, expression=sp.Rational(9, 10) * bound.expression).verify()


@pytest.mark.parametrize(
    ("name", "weaker"),
    [
        ("nonconvex_single_step", (sp.Le(s.alpha, sp.Rational(11, 10) / s.L),)),
        ("nonconvex_single_step", ()),
        (
            "strongly_convex_single_step",
            (sp.Le(s.alpha, sp.Rational(11, 20) / s.L), sp.Le(s.c, s.L)),
        ),
        ("heavy_ball_gap", (sp.Lt(s.mu, sp.Rational(11, 10)),)),
    ],
)
def test_a_weaker_assumption_is_refused(name, weaker):
    with pytest.raises(DerivationError):
        replace(get(name), assumptions=weaker).verify()


@pytest.mark.parametrize("name", NAMES)
def test_a_requirement_that_a_lemma_needs_cannot_be_left_out(name):
    bound = get(name)

    for requirement in bound.derivation.requirements():
        with pytest.raises(DerivationError, match=requirement.name):
            replace(bound, requirements=bound.requirements - {requirement}).verify()


def test_every_wrong_multiplier_of_nc1_is_refused():
    """Each multiplier is determined: change one by a tenth and the identity breaks."""
    derivation = get("nonconvex_single_step").derivation
    one_step = derivation.steps[0]
    region = Region((sp.Le(s.alpha, 1 / s.L),))

    for position, (multiplier, premise) in enumerate(one_step.terms):
        terms = list(one_step.terms)
        terms[position] = (multiplier * sp.Rational(9, 10), premise)
        with pytest.raises(DerivationError):
            replace(one_step, terms=tuple(terms)).check(region)


@pytest.mark.parametrize("name", NAMES)
def test_no_premise_of_a_combination_can_be_dropped(name):
    bound = get(name)
    derivation = bound.derivation
    region = Region(bound.assumptions + derivation.within)
    for step in derivation.steps:
        if not isinstance(step, Combination):
            continue
        for position in range(len(step.terms)):
            kept = step.terms[:position] + step.terms[position + 1 :]
            with pytest.raises(DerivationError):
                replace(step, terms=kept).check(region)


def test_a_negative_multiplier_of_an_inequality_is_refused():
    noise = vector("noise")
    step = Combination(
        "reversed", (-lemmas.variance(noise).lhs, -(s.sigma**2)), ((-1, lemmas.variance(noise)),)
    )

    with pytest.raises(DerivationError, match="multiplier of variance"):
        step.check(Region(()))


def test_slack_on_an_atom_of_either_sign_is_refused():
    step = Combination("free", (sp.S.Zero, signed_atom("E<a,b>")), ())

    with pytest.raises(DerivationError, match="either sign"):
        step.check(Region(()))


def test_a_recursion_that_does_not_contract_is_refused():
    r, following, end = (nonnegative_atom(name) for name in ("r", "r+", "r_T"))
    grows = Combination("grows", (following, (1 + s.mu) * r + s.M), ())

    with pytest.raises(DerivationError, match="q must be < 1"):
        Recursion("all", grows, r, end, s.T).check(Region(()))


def test_a_telescope_needs_its_potential_on_the_left():
    now, following = signed_atom("P"), signed_atom("P+")
    step = Combination("wrong way", (now, following), ())

    with pytest.raises(DerivationError, match="potential"):
        Telescope("sum", step, now, following, s.T).check(Region(()))


def test_a_wrong_vector_identity_is_refused():
    with pytest.raises(DerivationError, match="coefficients of g"):
        VectorIdentity("wrong", s.alpha * vector("g"), 2 * s.alpha * vector("g")).check(Region(()))


def test_a_conclusion_of_another_proof_is_no_premise():
    foreign = get("nonconvex_single_step").derivation.steps[0]
    derivation = get("nonconvex_single_step").derivation
    mixed = replace(derivation, steps=(replace(derivation.steps[1], of=foreign),))

    with pytest.raises(DerivationError, match="must be an earlier step"):
        mixed.check(sp.S.Zero, Region(()))


def test_requirements_are_those_of_the_theorem():
    """NC1 needs neither oblivious delays nor a bounded second moment: start order suffices."""
    required = get("nonconvex_single_step").derivation.requirements()

    assert Requirement.OBLIVIOUS not in required
    assert Requirement.SECOND_MOMENT not in required
    assert Requirement.UNBIASED in required


def test_the_norm_of_a_scaled_vector_is_the_scaled_norm():
    assert norm(-s.alpha * vector("g")) == s.alpha * norm(vector("g"))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("server_started_gap", {"M": 1.0, "n": 8}, 7.0),
        ("server_in_flight_gap", {"M": 2.0, "c_jobs": 5}, 10.0),
        ("server_applied_gap", {"M": 1.0, "tau_max": 1467}, 1467.0),
        ("heavy_ball_gap", {"M": 1.0, "mu": 0.9}, 9.0),
        (
            "nonconvex_single_step",
            {"Delta": 1, "alpha": 0.5, "T": 4, "L": 1, "B": 2, "sigma": 1},
            1.0 + 1.0 + 0.5,
        ),
        (
            "strongly_convex_single_step",
            {"R0": 2, "alpha": 0.5, "T": 1, "L": 1, "c": 1, "B": 1, "sigma": 1},
            0.75 * 4 + 6 * 0.25 + 1.0,
        ),
    ],
)
def test_values_are_those_of_the_formulas(name, values, expected):
    assert get(name).evaluate(values) == pytest.approx(expected, rel=1e-12)


def test_evaluate_names_the_assumption_that_fails():
    values = {"Delta": 1, "alpha": 2.0, "T": 4, "L": 1, "B": 2, "sigma": 1}

    with pytest.raises(AssumptionError, match="alpha <= 1/L"):
        get("nonconvex_single_step").evaluate(values)


def test_evaluate_names_the_symbol_without_a_value():
    with pytest.raises(AssumptionError, match="n needs a value"):
        get("server_started_gap").evaluate({"M": 1.0})


def test_evaluate_refuses_a_name_that_is_no_symbol():
    with pytest.raises(AssumptionError, match="workers"):
        get("server_started_gap").evaluate({"M": 1.0, "n": 8, "workers": 8})


def test_the_largest_admissible_step_size_is_admitted():
    """1/L is not a binary fraction for L = 3; rounding must not refuse it."""
    values = {"Delta": 1, "alpha": 1 / 3, "T": 4, "L": 3, "B": 2, "sigma": 1}

    assert get("nonconvex_single_step").failed_assumptions(values) == ()
