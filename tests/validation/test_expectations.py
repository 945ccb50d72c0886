"""Exact expectations of noisy SGD equal a run without noise, closed forms and many runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elastic_consistency.bounds import get
from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import StartedSequence
from elastic_consistency.optimization.compression import ErrorFeedback, Scaling
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.validation.adversaries import server_schedule, torn_updates
from elastic_consistency.validation.expectations import expectations
from elastic_consistency.validation.small_study import SmallStudy
from elastic_consistency.validation.strategies import (
    assert_bound_holds,
    quadratics,
    server_schedules,
    step_sizes,
    studies,
)

FEW = settings(max_examples=settings().max_examples // 3)
NOISY = Quadratic(np.array([1.0, 0.5]), variance=2.0, initial=np.array([2.0, -1.0]))
THEOREMS = (
    "nonconvex_single_step",
    "nonconvex_sharp_family",
    "strongly_convex_single_step",
    "strongly_convex_contraction",
    "convex_single_step",
    "convex_sharp_step",
)


@given(server_schedules(), quadratics(), step_sizes())
def test_without_noise_they_are_what_a_run_measures(schedule, problem, step_size):
    expected = expectations(schedule, problem, step_size)

    measured = execute(schedule, problem, SGD(step_size), seeds=(0,), probes=(StartedSequence(),))

    for name, figures in {
        "squared_gradient_started": expected.squared_gradient,
        "squared_distance_started": expected.squared_distance,
        "gap_started": np.sqrt(expected.squared_gap),
    }.items():
        assert measured[name].values[:, 0] == pytest.approx(figures, rel=1e-9, abs=1e-9)


def test_sequential_descent_has_its_closed_form():
    """E|u_k|^2 = r^2k |u_0|^2 + alpha^2 s (1 - r^2k) / (1 - r^2), r = 1 - alpha lambda."""
    problem = Quadratic(np.array([0.5]), variance=3.0, initial=np.array([2.0]))

    expected = expectations(server_schedule([0] * 30, n_workers=1), problem, 0.25)

    shrunk = (1 - 0.125) ** (2 * np.arange(31))
    distance = 4 * shrunk + 0.25**2 * 3 * (1 - shrunk) / (1 - 0.875**2)
    assert expected.squared_distance == pytest.approx(distance)
    assert expected.squared_gradient == pytest.approx(0.25 * distance)
    assert expected.suboptimality_at_view == pytest.approx(0.25 * distance)
    assert expected.squared_step == pytest.approx(0.25 * distance + 3)
    assert not expected.squared_gap.any()


def test_the_gap_of_pure_noise_is_the_number_of_jobs_in_flight():
    """Flat loss, three workers in turn: two others are under way, sigma^2 each."""
    flat = Quadratic(np.array([0.0]), variance=3.0)

    expected = expectations(server_schedule([0, 1, 2] * 3, n_workers=3), flat, 0.25)

    assert expected.squared_gap[2:] == pytest.approx(2 * 3.0)


def test_many_runs_average_to_them():
    """Null: the mean of 20,000 runs is right. A normal mean is off by 6 errors with 2e-9; there
    are 48 means. A wrong expectation is found from 4 % of its standard deviation on."""
    schedule = server_schedule([1, 2, 1, 2, 1, 0, 2, 1, 2, 0], n_workers=3)
    expected = expectations(schedule, NOISY, 0.25)

    measured = execute(
        schedule, NOISY, SGD(0.25), seeds=tuple(range(20_000)), probes=(StartedSequence(),)
    )

    for samples, figures in (
        (measured["squared_gradient_started"].values, expected.squared_gradient),
        (measured["squared_distance_started"].values, expected.squared_distance),
        (measured["gap_started"].values ** 2, expected.squared_gap),
    ):
        errors = samples.std(axis=1, ddof=1) / np.sqrt(samples.shape[1])
        assert (np.abs(samples.mean(axis=1) - figures) <= 6 * errors + 1e-12).all()


@FEW
@pytest.mark.parametrize("name", THEOREMS)
@given(study=studies(schedule=server_schedules(), oracle=quadratics(noise=True)))
def test_convergence_theorems_hold_in_expectation_for_every_order_of_arrivals(name, study):
    assert_bound_holds(get(name), study, values={"theta": 0.5})


@FEW
@given(study=studies(schedule=server_schedules(), oracle=quadratics()))
def test_cv1_holds_at_the_views_without_noise(study):
    assert_bound_holds(get("convex_single_step"), study)


@given(schedule=server_schedules(), problem=quadratics(noise=True), step_size=step_sizes())
def test_the_measured_gap_of_noisy_gradients_is_at_most_n_minus_one_second_moments(
    schedule, problem, step_size
):
    values = SmallStudy(schedule, problem, SGD(step_size)).values()

    assert values["B"] <= (values["n"] - 1) * values["M"] * (1 + 1e-9)


@pytest.mark.parametrize("lost", ["sigma", "R0"])
def test_a_theorem_that_forgets_a_term_is_broken(lost):
    """Noise alone, or distance alone, exceeds what the other terms allow."""
    noise, start = (2.0, 0.0) if lost == "sigma" else (1e-6, 4.0)
    problem = Quadratic(np.array([1.0]), variance=noise, initial=np.array([start]))
    study = SmallStudy(server_schedule([0] * 8, n_workers=1), problem, SGD(0.25))
    bound = get("convex_single_step")

    held = assert_bound_holds(bound, study)
    assert held.tightness > 0.1
    with pytest.raises(AssertionError, match="beyond the bound"):
        assert_bound_holds(bound, study, values={lost: 1e-9})


@given(st.sampled_from((ErrorFeedback(Scaling(0.25)), HeavyBall(0.25, 0.5))))
def test_noise_whose_expectation_is_not_exact_is_refused(part):
    schedule = server_schedule([0], n_workers=1)
    rule, codec = (part, None) if isinstance(part, HeavyBall) else (SGD(0.25), part)

    with pytest.raises(ValueError, match=r"SmallStudy\.oracle must be without noise, or"):
        SmallStudy(schedule, NOISY, rule, **({} if codec is None else {"codec": codec}))


def test_what_has_no_exact_expectation_is_refused():
    slope = SmallStudy(server_schedule([], n_workers=1), Linear(np.ones(1)), SGD(0.25))
    apart = Quadratic(np.ones(1), offsets=np.array([[1.0], [-1.0]]))

    with pytest.raises(ValueError, match="must be a quadratic"):
        slope.measure(get("convex_single_step"))
    with pytest.raises(ValueError, match=r"offsets must be None"):
        expectations(server_schedule([], n_workers=2), apart, 0.25)
    with pytest.raises(ValueError, match="must have one block, got 2"):
        expectations(torn_updates(2), NOISY, 0.25)
