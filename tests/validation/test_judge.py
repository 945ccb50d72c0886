"""A verdict reads the whole interval and never claims more than its method can prove."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.bounds import AssumptionError, Requirement, get
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.validation import (
    Claim,
    Effect,
    Estimate,
    Method,
    Outcome,
    bootstrap,
    empirical_bernstein,
    exact,
    judge,
    judge_all,
    student_t,
)

STARTED = get("server_started_gap")
NONCONVEX = get("nonconvex_single_step")
SERVER = {"M": 1.0, "n": 8}
DESCENT = {"L": 1.0, "alpha": 0.1, "T": 100, "Delta": 1.0, "sigma": 1.0, "B": 7.0}
DESCENT_BOUND = 2 / (0.1 * 100) + 0.1**2 * 7**2 + 0.1


def _interval(lower, upper, *, method=Method.EMPIRICAL_BERNSTEIN, confidence=0.95, **rest):
    return Estimate((lower + upper) / 2, lower, upper, confidence, method, 100, **rest)


def test_a_tight_exact_figure_is_consistent():
    verdict = judge(exact(7.0 * (1 + 1e-14)), STARTED, SERVER, error_rate=0.01)

    assert verdict.outcome is Outcome.CONSISTENT
    assert verdict.certified
    assert verdict.tightness == pytest.approx(1)


def test_an_exact_figure_just_beyond_the_bound_is_violated():
    verdict = judge(exact(7.0 * (1 + 1e-8)), STARTED, SERVER, error_rate=0.01)

    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.margin < 0


@pytest.mark.parametrize(
    ("lower", "upper", "outcome"),
    [
        (5.0, 6.9, Outcome.CONSISTENT),
        (6.0, 7.5, Outcome.INCONCLUSIVE),
        (6.9, 9.0, Outcome.INCONCLUSIVE),
        (7.1, 9.0, Outcome.VIOLATED),
    ],
)
def test_the_whole_interval_decides_not_the_figure(lower, upper, outcome):
    verdict = judge(_interval(lower, upper), STARTED, SERVER, error_rate=0.05)

    assert verdict.outcome is outcome


@pytest.mark.parametrize("method", [Method.STUDENT_T, Method.BOOTSTRAP])
def test_an_approximate_method_never_says_violated(method):
    verdict = judge(_interval(70, 90, method=method), STARTED, SERVER, error_rate=0.05)

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "approximate" in verdict.sentence


def test_consistent_by_an_approximate_method_is_not_certified():
    verdict = judge(_interval(1, 2, method=Method.STUDENT_T), STARTED, SERVER, error_rate=0.05)

    assert verdict.outcome is Outcome.CONSISTENT
    assert not verdict.certified


@pytest.mark.parametrize(("lower", "upper"), [(1, 2), (8, 9)])
def test_an_interval_less_sure_than_the_error_rate_decides_nothing(lower, upper):
    verdict = judge(_interval(lower, upper, confidence=0.95), STARTED, SERVER, error_rate=0.01)

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "less sure" in verdict.sentence


def test_a_failed_assumption_is_named():
    verdict = judge(exact(0.1), NONCONVEX, DESCENT | {"alpha": 2.0}, error_rate=0.05)

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.bound_value is None
    assert any("alpha" in text for text in verdict.failed)
    assert verdict.failed[0] in verdict.sentence


def test_a_missing_constant_is_named():
    verdict = judge(exact(7.0), STARTED, {"n": 8}, error_rate=0.05)

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.failed == ("M needs a value",)


def test_a_name_that_is_no_symbol_is_refused():
    with pytest.raises(AssumptionError, match="learning_rate"):
        judge(exact(7.0), STARTED, SERVER | {"learning_rate": 0.1}, error_rate=0.05)


def test_a_requirement_that_the_study_does_not_meet_is_named():
    """As when a probe saw the trajectory leave the ball on which M holds."""
    unmet = [Requirement.SECOND_MOMENT, Requirement.HEAVY_BALL]

    verdict = judge(exact(9.0), STARTED, SERVER, error_rate=0.05, unmet=unmet)

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.failed == (f"it needs that {Requirement.SECOND_MOMENT.value}",)


def test_a_figure_of_another_auxiliary_sequence_is_not_judged():
    figure = exact(1467.0, quantity=Quantity.GAP, sequence=Sequence.APPLIED)

    verdict = judge(figure, STARTED, SERVER, error_rate=0.05)

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "started" in verdict.sentence


def test_a_figure_of_another_quantity_is_refused():
    with pytest.raises(ValueError, match=r"estimate must be of Quantity\.GAP"):
        judge(exact(7.0, quantity=Quantity.STALENESS), STARTED, SERVER, error_rate=0.05)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1])
def test_an_error_rate_outside_the_unit_interval_is_refused(rate):
    with pytest.raises(ValueError, match=r"error_rate must be a number in \(0, 1\)"):
        judge(exact(7.0), STARTED, SERVER, error_rate=rate)


def test_what_rests_on_an_estimated_constant_is_conditional():
    figure = exact(6.0, conditional_on=frozenset({"L"}))

    verdict = judge(figure, STARTED, SERVER, error_rate=0.05)

    assert verdict.outcome is Outcome.CONDITIONAL
    assert verdict.conditional_on == ("L",)
    assert not verdict.certified


def test_an_estimated_constant_counts_at_its_least_favourable_end():
    """M in [.9, 1.1] makes the bound 6.3 to 7.7: 6.2 is within all of it."""
    second_moment = _interval(0.9, 1.1, confidence=0.98)

    outcomes = [
        judge(exact(figure), STARTED, {"M": second_moment, "n": 8}, error_rate=0.05).outcome
        for figure in (6.2, 6.5, 7.5, 7.8)
    ]

    inconclusive = Outcome.INCONCLUSIVE
    assert outcomes == [Outcome.CONDITIONAL, inconclusive, inconclusive, inconclusive]


def test_estimated_constants_spend_part_of_the_error_budget():
    """3 % for the figure and 3 % for M exceed 5 % together."""
    values = {"M": _interval(0.9, 1.1, confidence=0.97), "n": 8}

    verdict = judge(_interval(1, 2, confidence=0.97), STARTED, values, error_rate=0.05)

    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_an_exact_constant_given_as_an_estimate_is_a_number():
    verdict = judge(exact(7.0), STARTED, {"M": exact(1.0), "n": 8}, error_rate=0.05)

    assert verdict.outcome is Outcome.CONSISTENT


def test_the_terms_of_a_bound_add_up_and_say_what_they_pay_for():
    verdict = judge(exact(0.5), NONCONVEX, DESCENT, error_rate=0.05)

    assert verdict.bound_value == pytest.approx(DESCENT_BOUND)
    assert {term.effect: pytest.approx(term.value) for term in verdict.terms} == {
        Effect.DELAY: 0.49,
        Effect.INITIAL_DISTANCE: 0.2,
        Effect.NOISE: 0.1,
    }
    assert math.fsum(term.share for term in verdict.terms) == pytest.approx(1)


def test_an_inconclusive_verdict_says_how_many_replicates_would_decide():
    rng = np.random.default_rng(0)
    samples = rng.random(40) + 6.0  # mean 6.5, bound 7, range [0, 49]

    few = judge(
        empirical_bernstein(samples, low=0, high=49, confidence=0.95),
        STARTED,
        SERVER,
        error_rate=0.05,
    )
    more = rng.random(few.replicates_needed) + 6.0
    enough = judge(
        empirical_bernstein(more, low=0, high=49, confidence=0.95), STARTED, SERVER, error_rate=0.05
    )

    assert few.outcome is Outcome.INCONCLUSIVE
    assert few.replicates_needed > 40
    assert str(few.replicates_needed) in few.sentence
    assert enough.outcome is Outcome.CONSISTENT


def test_no_number_of_replicates_decides_a_figure_that_sits_on_its_bound():
    figure = Estimate(7.0, 6.0, 8.0, 0.95, Method.EMPIRICAL_BERNSTEIN, 100, deviation=1, width=49)

    assert judge(figure, STARTED, SERVER, error_rate=0.05).replicates_needed is None


@given(value=st.floats(0, 20), error_rate=st.floats(0.001, 0.5))
def test_verdicts_on_exact_figures_are_the_comparison(value, error_rate):
    outcome = judge(exact(value), STARTED, SERVER, error_rate=error_rate).outcome

    assert outcome is (Outcome.VIOLATED if value > 7 * (1 + 1e-9) else Outcome.CONSISTENT)


def test_a_record_is_plain_json():
    record = judge(_interval(6.0, 7.5), STARTED, SERVER, error_rate=0.05).record()

    assert json.loads(json.dumps(record)) == record


class TestReports:
    def _samples(self, mean):
        return np.tile([mean - 1, mean + 1], 500)

    def test_the_error_rate_is_shared_by_the_claims_that_can_err(self):
        asked = []

        def measure(confidence):
            asked.append(confidence)
            return empirical_bernstein(self._samples(3), low=0, high=49, confidence=confidence)

        claims = [Claim(measure, STARTED, SERVER)] * 4 + [Claim(exact(7.0), STARTED, SERVER)] * 100
        verdicts = judge_all(claims, error_rate=0.04)

        assert asked == [pytest.approx(0.99)] * 4
        assert {v.outcome for v in verdicts} == {Outcome.CONSISTENT}

    def test_an_interval_for_one_claim_alone_decides_nothing_among_many(self):
        alone = Claim(_interval(8, 9, confidence=0.95), STARTED, SERVER)

        assert judge_all([alone], error_rate=0.05)[0].outcome is Outcome.VIOLATED
        among = judge_all([alone, alone], error_rate=0.05)
        assert {v.outcome for v in among} == {Outcome.INCONCLUSIVE}

    def test_an_estimated_constant_makes_an_exact_figure_a_claim_that_can_err(self):
        values = {"M": _interval(0.9, 1.1, confidence=0.97), "n": 8}
        claims = [Claim(exact(1.0), STARTED, values)] * 2

        assert {v.outcome for v in judge_all(claims, error_rate=0.06)} == {Outcome.CONDITIONAL}
        assert {v.outcome for v in judge_all(claims, error_rate=0.05)} == {Outcome.INCONCLUSIVE}

    def test_a_report_without_claims_has_no_verdicts(self):
        assert judge_all([], error_rate=0.05) == ()


def test_both_approximate_methods_are_labelled():
    samples = np.array([1.0, 2.0, 4.0])

    estimates = [
        student_t(samples, confidence=0.95),
        bootstrap(samples, lambda x: x.mean(axis=-1), confidence=0.95),
    ]

    assert all("approximate" in estimate.method.value for estimate in estimates)
