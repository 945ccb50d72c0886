"""Verdicts: right where the theorem applies, not applicable where it does not."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.optimization.compression import TopK
from elastic_consistency.optimization.update_rules import ADAG
from elastic_consistency.simulator.protocols import Ringmaster
from elastic_consistency.studies.comparison.runs import schedule_of
from elastic_consistency.studies.judging.certification import certify, obstacle
from elastic_consistency.studies.judging.certified_step import certified_step
from elastic_consistency.studies.judging.claims import supremum_of_gaps
from elastic_consistency.studies.judging.limits import limits_of
from elastic_consistency.validation import Method, Outcome

VALUES = {"L": 4.0, "c": 0.5, "sigma": 1.0, "B": 2.0, "T": 100, "Delta": 1.0, "R0": 1.0}


def _certify(study, step_size):
    contender = replace(study.contenders[0], jobs=study.certificate.jobs)
    return certify(study, contender, schedule_of(study, contender, 0), step_size)


@pytest.fixture(scope="module")
def small_step(study):
    return _certify(study, 0.05 / study.oracle.constants().smoothness)


def test_no_true_bound_is_violated(small_step):
    assert Outcome.VIOLATED not in [verdict.outcome for verdict in small_step.verdicts]


def test_gaps_have_a_proved_interval(small_step):
    methods = [verdict.estimate.method for verdict in small_step.verdicts]

    assert set(methods) == {Method.EMPIRICAL_BERNSTEIN}


def test_measured_gaps_stay_below_their_bounds(small_step):
    for gap in small_step.gaps:
        assert 0 < gap.time_average <= gap.peak <= gap.bound


def test_the_schedule_gives_the_constants(small_step):
    """Four workers: c = n - 1 = 3 and B = 3 M."""
    values = small_step.values

    assert (values["n"], values["c_jobs"], values["T"]) == (4, 3, 60)
    assert values["B"] == 3 * values["M"]


def test_error_rates_add_up_to_the_promised_one(small_step):
    """Bounds of the same figure share one interval, and with it its error."""
    figures = {(v.quantity, v.sequence, v.error_rate): v.error_rate for v in small_step.verdicts}

    assert len(small_step.verdicts) > len(figures) == 5
    assert sum(figures.values()) == pytest.approx(small_step.error_rate)


def test_a_step_size_beyond_the_assumption_is_not_applicable(study):
    """NC1 needs alpha <= 1/L, SC1 alpha <= 1/(2 L)."""
    between = _certify(study, 0.75 / study.oracle.constants().smoothness)

    by_name = {verdict.bound: verdict for verdict in between.verdicts}
    strongly = by_name["strongly_convex_single_step"]
    assert strongly.outcome is Outcome.NOT_APPLICABLE
    assert "alpha <= 1/(2*L)" in strongly.failed


def test_a_run_that_leaves_the_ball_is_not_judged(study):
    far = _certify(study, 40 / study.oracle.constants().smoothness)

    assert far.farthest > far.radius
    assert {verdict.outcome for verdict in far.verdicts} == {Outcome.NOT_APPLICABLE}
    assert not any(far.informative)


def test_no_gradient_on_the_ball_is_longer_than_its_limit(problem):
    limits = limits_of(problem, 1.25)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(200, problem.dimension))
    direction *= limits.radius / np.linalg.norm(direction, axis=1, keepdims=True)
    points = problem.minimiser() + direction

    gradients = problem.gradient(points, rng.uniform(size=(200, problem.batch)), 0)

    assert np.linalg.norm(gradients, axis=1).max() <= limits.largest_gradient


@pytest.mark.parametrize(
    ("name", "limit", "condition"),
    [
        ("strongly_convex_single_step", 1 / 8, "alpha <= 1/(2*L)"),
        ("nonconvex_single_step", 1 / 4, "alpha <= 1/L"),
    ],
)
def test_the_largest_certified_step_is_that_of_the_theorem(name, limit, condition):
    step = certified_step(get(name), VALUES)

    assert step.step_size == pytest.approx(limit, rel=1e-9)
    assert step.condition == condition


def test_no_step_is_certified_where_another_assumption_fails():
    step = certified_step(get("strongly_convex_single_step"), VALUES | {"c": 9.0})

    assert (step.step_size, step.condition) == (0.0, "c <= L")


def test_a_useful_step_promises_less_than_the_ceiling():
    bound, ceiling = get("nonconvex_single_step"), 2.0

    step = certified_step(bound, VALUES, ceiling=ceiling)

    assert bound.evaluate(VALUES | {"alpha": step.useful}) < ceiling
    assert bound.evaluate(VALUES | {"alpha": step.useful * 1.01}) > ceiling


def test_an_unreachable_ceiling_leaves_no_useful_step():
    assert certified_step(get("nonconvex_single_step"), VALUES, ceiling=1e-9).useful == 0.0


def test_a_synchronous_schedule_is_refused(study):
    schedule = schedule_of(study, study.contenders[1], 0)

    with pytest.raises(ValueError, match="all views of a synchronous round are equal"):
        certify(study, study.contenders[1], schedule, 0.1)


def test_more_points_than_a_trace_keeps_are_refused(study):
    long = replace(study.contenders[0], jobs=1004)

    with pytest.raises(ValueError, match=r"Certificate\.jobs is at most 1000"):
        certify(study, long, schedule_of(study, long, 0), 0.1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rule": ADAG(1.0)}, "AsynchronousServer with ADAG"),
        ({"codec": TopK(1)}, "AsynchronousServer with SGD and TopK"),
        ({"protocol": Ringmaster(2)}, "every gradient is applied as a whole and in full"),
    ],
)
def test_what_the_bounds_do_not_speak_about_is_told(study, change, told):
    contender = replace(study.contenders[0], jobs=60, **change)

    assert told in obstacle(study, contender, schedule_of(study, contender, 0))


def test_each_gap_stands_beside_its_own_bound(small_step):
    """Started: (n - 1) M; applied: tau_max M."""
    values = small_step.values
    told = [(gap.sequence, gap.bound) for gap in small_step.gaps]

    moment = values["M"]
    assert told == [
        ("started", pytest.approx(3 * moment)),
        ("applied", pytest.approx(values["tau_max"] * moment)),
    ]


def test_the_last_point_of_the_started_sequence_is_one_step_earlier(small_step):
    """The distance is measured at x_{T-1}, so its bound is that of T - 1 steps."""
    bound = get("strongly_convex_single_step")
    (verdict,) = (v for v in small_step.verdicts if v.bound == bound.name)

    expected = bound.evaluate(small_step.values | {"T": small_step.values["T"] - 1})
    assert verdict.bound_value == pytest.approx(expected)


def test_large_gaps_inside_their_range_have_a_proved_interval():
    """Gaps are compared with the largest gap, squares with its square."""
    squares = np.full((5, 16), 20.0) ** 2  # below 30^2, above 30

    estimate = supremum_of_gaps(squares, (30.0,))(0.99)

    assert estimate.method is Method.EMPIRICAL_BERNSTEIN
    assert estimate.lower <= 20.0 <= estimate.upper <= 30.0


def test_what_rests_on_an_estimated_constant_is_never_certified(study, monkeypatch):
    """The word follows the constant into every verdict."""
    oracle = type(study.oracle)
    known = oracle.constants

    def estimated(self, radius=float("inf")):
        return replace(known(self, radius), estimated=frozenset({"smoothness"}))

    monkeypatch.setattr(oracle, "constants", estimated)

    certificate = _certify(study, 0.05 / known(study.oracle).smoothness)

    judged = [v for v in certificate.verdicts if v.outcome is not Outcome.NOT_APPLICABLE]
    outcomes = {verdict.outcome for verdict in judged}
    assert Outcome.CONDITIONAL in outcomes
    assert outcomes <= {Outcome.CONDITIONAL, Outcome.INCONCLUSIVE}
    for verdict in judged:
        assert verdict.conditional_on == ("smoothness",)
        assert "estimated smoothness" in verdict.sentence
        assert not verdict.certified
