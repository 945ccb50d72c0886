"""Largest certified step, steps to a target, and seconds on a cluster."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.bounds import (
    AssumptionError,
    get,
    largest_certified_step,
    plan,
    steps_to_target,
)
from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.cluster_time import (
    asynchronous_seconds,
    batch_seconds,
    heterogeneous_seconds,
    optimal_seconds,
    sampled_round_seconds,
    synchronous_seconds,
)
from elastic_consistency.bounds.step_size import (
    nonconvex_step,
    nonconvex_steps,
    strongly_convex_step,
)

VALUES = {"L": 2.0, "Delta": 3.0, "B": 7.0, "sigma": 1.5}


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("nonconvex_single_step", {"L": 4.0}, 0.25),
        ("strongly_convex_single_step", {"L": 4.0, "c": 1.0}, 0.125),
        ("convex_single_step", {"L": 4.0}, 1 / 16),
        ("bounded_staleness_nonconvex", {"L": 1.0, "R": 8.0}, 1 / 16),
        ("error_feedback_nonconvex", {"L": 1.0, "gamma": 0.25}, 0.5),
        ("delay_adaptive_nonconvex", {"L": 1.0, "n": 4.0}, 1 / 12),
        ("nonconvex_at_views", {}, math.inf),
    ],
)
def test_the_largest_certified_step_is_the_assumption(name, values, expected):
    assert largest_certified_step(get(name), values) == pytest.approx(expected)


def test_a_bound_without_step_size_is_refused():
    with pytest.raises(AssumptionError, match="alpha"):
        largest_certified_step(get("server_started_gap"), {"n": 8, "M": 1})


def test_a_missing_limit_is_named():
    with pytest.raises(AssumptionError, match="L"):
        largest_certified_step(get("nonconvex_single_step"), {})


def symbolic(expression, values):
    return float(expression.subs({getattr(s, name): value for name, value in values.items()}))


@pytest.mark.parametrize("target", [0.01, 0.1, 1.0])
def test_the_numeric_plan_agrees_with_the_symbolic_one(target):
    """NC1: the optimum solves epsilon - 2 L sigma^2 a - 3 L^2 B^2 a^2 = 0."""
    found = plan(get("nonconvex_single_step"), VALUES, target=target)
    step = symbolic(nonconvex_step(), VALUES | {"epsilon": target})
    steps = symbolic(nonconvex_steps(), VALUES | {"epsilon": target, "alpha": step})

    assert step < 0.5
    assert math.ceil(steps) <= found.steps <= math.ceil(steps) * (1 + 1e-5)
    assert found.bound <= target


def test_without_noise_and_gap_the_plan_takes_the_largest_step():
    found = plan(get("nonconvex_single_step"), VALUES | {"B": 0.0, "sigma": 0.0}, target=0.5)

    assert found.step_size == pytest.approx(0.5)
    assert found.steps == 2 * 3 / (0.5 * 0.5)


@pytest.mark.parametrize(
    ("name", "values", "steps"),
    [
        ("convex_sharp_step", {"L": 2.0, "R0": 1.0, "B": 0.0, "sigma": 0.0}, 100),
        ("delayed_gradient_descent", {"L": 1.0, "Delta": 1.0, "tau": 2.0}, 1000),
    ],
)
def test_a_plan_stays_below_a_limit_that_is_not_admitted(name, values, steps):
    """R0^2 L/2 / .01 = 100 at alpha = 1/L; 2 Delta L (2 tau + 1)/.01 = 1000 at half the limit."""
    found = plan(get(name), values, target=0.01)

    assert found.step_size < largest_certified_step(get(name), values)
    assert steps <= found.steps <= steps + 1


def test_half_of_the_strongly_convex_target_is_left_for_the_start():
    values = {"L": 1.0, "c": 0.5, "B": 3.0, "sigma": 0.2}
    step = symbolic(strongly_convex_step(), values | {"epsilon_x": 0.1})
    floor = 2 * 2.5 / 0.5 * step**2 * 9 + 2 / 0.5 * step * 0.04

    assert floor == pytest.approx(0.05)


def test_an_unreachable_target_has_no_steps():
    bound = get("nonconvex_single_step")

    assert steps_to_target(bound, VALUES, target=1e-3, step_size=0.5) is None


@given(st.floats(0.02, 10), st.floats(0.001, 0.5))
def test_steps_to_target_are_the_fewest(target, step_size):
    bound = get("nonconvex_single_step")
    steps = steps_to_target(bound, VALUES, target=target, step_size=step_size)
    if steps is None:
        return
    values = VALUES | {"alpha": step_size}

    assert bound.evaluate(values | {"T": steps}) <= target * (1 + 1e-9)
    assert steps == 1 or bound.evaluate(values | {"T": steps - 1}) > target * (1 - 1e-9)


def test_a_plan_takes_its_steps_at_the_given_rate():
    assert plan(get("nonconvex_single_step"), VALUES, target=1.0).seconds(10.0) > 0


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 30))
def test_batch_seconds_is_the_smallest_time_with_enough_gradients(times, batch):
    found = batch_seconds(times, batch)
    finished = sorted(t * j for t, j in itertools.product(times, range(1, batch + 1)))

    assert found == finished[batch - 1]
    assert sum(math.floor(found / t) for t in times) >= batch


def test_the_example_of_sampled_clients():
    """900 clients of 10 s and 100 of 60 s, 10 active: 15 s against 42.57 s."""
    asynchronous, synchronous = sampled_round_seconds([10.0] * 900 + [60.0] * 100, 10)

    assert asynchronous == pytest.approx(15.0)
    assert synchronous == pytest.approx(10 * 0.9**10 + 60 * (1 - 0.9**10))
    assert synchronous == pytest.approx(42.57, abs=5e-3)


@given(st.lists(st.floats(0.5, 50), min_size=1, max_size=5), st.floats(0.01, 2))
def test_rennala_in_seconds_covers_the_exact_time_of_its_batches(times, variance):
    """8 L Delta/epsilon batches; the bound holds for the fast workers alone, whatever the rest."""
    constants = {"L": 1.0, "Delta": 1.0, "epsilon": 0.1}
    batch = max(1, math.ceil(variance / 0.1))
    exact = 80 * batch_seconds(times, batch)
    fastest = sorted(times)

    for n in range(1, len(times) + 1):
        harmonic = n / sum(1 / seconds for seconds in fastest[:n])
        values = {"sigma": variance**0.5, "m": batch, "n": n, "t_fast": harmonic}
        assert exact <= get("rennala_seconds").evaluate(constants | values) * (1 + 1e-9)


def test_equal_workers_gain_nothing_from_asynchrony_but_a_straggler_costs():
    equal, skewed = [2.0] * 4, [1.0, 1.0, 1.0, 10.0]

    assert asynchronous_seconds(equal, 8) == 4.0
    assert synchronous_seconds(equal, 2) == 4.0
    assert synchronous_seconds(skewed, 2) == 20.0
    assert asynchronous_seconds(skewed, 8) == 3.0


def test_optimal_time_leaves_out_workers_that_are_too_slow():
    constants = {"smoothness": 1.0, "delta": 1.0, "variance": 1.0, "target": 0.1}

    assert optimal_seconds([1.0], **constants) == pytest.approx(110.0)
    assert optimal_seconds([1.0, 1e9], **constants) == pytest.approx(110.0)
    assert optimal_seconds([1.0, 1.0], **constants) == pytest.approx(60.0)
    assert heterogeneous_seconds([1.0, 3.0], **constants) == pytest.approx(30 + 100.0)


@pytest.mark.parametrize("times", [[], [0.0], [math.inf], [-1.0]])
def test_impossible_computing_times_are_refused(times):
    with pytest.raises(ValueError, match="job_seconds must be"):
        batch_seconds(times, 1)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="batch must be"):
        batch_seconds([1.0], 0)
