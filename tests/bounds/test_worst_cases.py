"""Without noise our bounds lie above the exact worst case that PEPit finds.

PEPit (Goujon et al. 2022, arXiv:2201.04040) maximises over all functions of a class, in every
dimension, by a semidefinite programme. Each test prints the ratio of our bound and the worst case
(`pytest -s`); docs/theory/worst_cases.md lists them.
"""

import math
import sys

import pytest
from PEPit import PEP, Expression, Point
from PEPit.functions import SmoothFunction, SmoothStronglyConvexFunction

from elastic_consistency.bounds import get

SOLVER_ACCURACY = 1e-5


def solve(problem):
    accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-7)
    return problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0, **accuracy)


def show(name, values, ratio):
    sys.stdout.write(f"{name} at {values}: bound / worst case = {ratio:.4f}\n")


def compare(name, values, problem):
    """Print and return bound / worst case."""
    ratio = get(name).evaluate(values) / solve(problem)
    show(name, values, ratio)
    return ratio


class DelayedDescent:
    """x(t+1) = x(t) - step g(v(t)) with v(t) = x(t - staleness), before its measure is chosen."""

    def __init__(self, loss, *, step_size, staleness, steps, largest_gradient=math.inf):
        self.problem = PEP()
        self.loss = self.problem.declare_function(loss[0], **loss[1])
        self.iterates = [self.problem.set_initial_point()]
        self.views = []
        for t in range(steps):
            self.views.append(self.iterates[max(0, t - staleness)])
            gradient = self.loss.gradient(self.views[-1])
            if largest_gradient < math.inf:
                self.problem.add_constraint(gradient**2 <= largest_gradient**2)
            self.iterates.append(self.iterates[-1] - step_size * gradient)

    def start_above_infimum(self, difference):
        """f* is the least of f - |g|^2/(2 L) over all points: exact for L-smooth functions."""
        infimum = Expression()
        for iterate in self.iterates:
            gradient, value = self.loss.oracle(iterate)
            self.problem.add_constraint(value - gradient**2 / (2 * self.loss.L) >= infimum)
        start = self.loss.value(self.iterates[0])
        self.problem.set_initial_condition(start - infimum <= difference)

    def start_near_minimiser(self, distance):
        minimiser = self.loss.stationary_point()
        start = (self.iterates[0] - minimiser) ** 2
        self.problem.set_initial_condition(start <= distance**2)
        return minimiser

    def average_squared_gradient(self, points):
        sizes = [self.loss.gradient(point) ** 2 for point in points]
        self.problem.set_performance_metric(sum(sizes) / len(sizes))


SMOOTH = (SmoothFunction, {"L": 1.0})


@pytest.mark.parametrize("steps", [3, 6])
def test_gradient_descent_without_delay_is_bounded_exactly(steps):
    """delayed_gradient_descent is the worst case itself at tau = 0."""
    step_size = 0.8
    run = DelayedDescent(SMOOTH, step_size=step_size, staleness=0, steps=steps)
    run.start_above_infimum(1.0)
    run.average_squared_gradient(run.views)

    values = {"Delta": 1, "alpha": step_size, "T": steps, "L": 1, "tau": 1e-12}

    assert compare("delayed_gradient_descent", values, run.problem) == pytest.approx(1.0, abs=2e-4)


@pytest.mark.parametrize(("staleness", "largest_ratio"), [(1, 1.18), (2, 1.26), (3, 1.49)])
def test_descent_with_a_fixed_delay_is_bounded(staleness, largest_ratio):
    """The ratio is that of half the largest step, 1/(L (2 tau + 1)), and falls with T."""
    step_size = 1 / (2 * staleness + 1)
    run = DelayedDescent(SMOOTH, step_size=step_size, staleness=staleness, steps=5)
    run.start_above_infimum(1.0)
    run.average_squared_gradient(run.views)

    values = {"Delta": 1, "alpha": step_size, "T": 5, "L": 1, "tau": staleness}
    ratio = compare("delayed_gradient_descent", values, run.problem)

    assert 1 - SOLVER_ACCURACY <= ratio <= largest_ratio


@pytest.mark.parametrize(("staleness", "largest_ratio"), [(1, 1.46), (2, 1.94), (3, 2.31)])
def test_bounded_staleness_is_bounded(staleness, largest_ratio):
    step_size = 1 / (2 * staleness)
    run = DelayedDescent(SMOOTH, step_size=step_size, staleness=staleness, steps=5)
    run.start_above_infimum(1.0)
    run.average_squared_gradient(run.iterates[:-1])

    values = {"Delta": 1, "alpha": step_size, "T": 5, "L": 1, "R": staleness, "sigma": 0}
    ratio = compare("bounded_staleness_nonconvex", values, run.problem)

    assert 1 - SOLVER_ACCURACY <= ratio <= largest_ratio


@pytest.mark.parametrize(("step_size", "difference"), [(0.5, 1.0), (1.0, 0.5)])
def test_nonconvex_descent_with_a_gap_is_bounded(step_size, difference):
    """NC1 with B = tau M, tau = 1, |g| <= M = 1 on the trajectory."""
    run = DelayedDescent(SMOOTH, step_size=step_size, staleness=1, steps=5, largest_gradient=1.0)
    run.start_above_infimum(difference)
    run.average_squared_gradient(run.iterates[:-1])

    gap = get("server_applied_gap").evaluate({"tau_max": 1, "M": 1})
    values = {"Delta": difference, "alpha": step_size, "T": 5, "L": 1, "B": gap, "sigma": 0}

    assert compare("nonconvex_single_step", values, run.problem) >= 1 - SOLVER_ACCURACY


@pytest.mark.parametrize(
    ("name", "step_size"),
    [
        ("strongly_convex_single_step", 0.5),
        ("strongly_convex_contraction", 0.5),
        ("strongly_convex_contraction", 1.5),
    ],
)
def test_strongly_convex_descent_without_gap_is_bounded(name, step_size):
    """The worst case is (1 - alpha c)^(2 T), the square of what SC2 certifies at B = 0."""
    loss = (SmoothStronglyConvexFunction, {"mu": 0.25, "L": 1.0})
    run = DelayedDescent(loss, step_size=step_size, staleness=0, steps=3)
    minimiser = run.start_near_minimiser(1.0)
    run.problem.set_performance_metric((run.iterates[-1] - minimiser) ** 2)

    values = {"R0": 1, "alpha": step_size, "T": 3, "L": 1, "c": 0.25, "B": 0, "sigma": 0}

    assert compare(name, values, run.problem) >= 1 - SOLVER_ACCURACY


@pytest.mark.parametrize("name", ["strongly_convex_single_step", "strongly_convex_contraction"])
def test_strongly_convex_descent_with_a_gap_is_bounded(name):
    loss = (SmoothStronglyConvexFunction, {"mu": 0.25, "L": 1.0})
    run = DelayedDescent(loss, step_size=0.5, staleness=1, steps=4, largest_gradient=0.5)
    minimiser = run.start_near_minimiser(1.0)
    run.problem.set_performance_metric((run.iterates[-1] - minimiser) ** 2)

    values = {"R0": 1, "alpha": 0.5, "T": 4, "L": 1, "c": 0.25, "B": 0.5, "sigma": 0}

    assert compare(name, values, run.problem) >= 1 - SOLVER_ACCURACY


@pytest.mark.parametrize("staleness", [0, 2])
@pytest.mark.parametrize("name", ["convex_single_step", "convex_sharp_step"])
def test_convex_descent_is_bounded(name, staleness):
    loss = (SmoothStronglyConvexFunction, {"mu": 0.0, "L": 1.0})
    run = DelayedDescent(loss, step_size=0.25, staleness=staleness, steps=4, largest_gradient=0.5)
    minimiser = run.start_near_minimiser(1.0)
    values_at_views = [run.loss.value(view) for view in run.views]
    run.problem.set_performance_metric(sum(values_at_views) / 4 - run.loss.value(minimiser))

    gap = get("server_applied_gap").evaluate({"tau_max": staleness, "M": 0.5})
    values = {"R0": 1, "alpha": 0.25, "T": 4, "L": 1, "B": gap, "sigma": 0}

    assert compare(name, values, run.problem) >= 1 - SOLVER_ACCURACY


class OneStepWithAGap:
    """x+ = x - step g(v) for any x and v at distance 1, the worst over all functions of a class."""

    def __init__(self, *, step_size, convexity):
        self.problem = PEP()
        loss = SmoothStronglyConvexFunction
        self.loss = self.problem.declare_function(loss, mu=convexity, L=1.0)
        self.best = self.loss.stationary_point()
        self.x, self.view = self.problem.set_initial_point(), Point()
        self.after = self.x - step_size * self.loss.gradient(self.view)
        self.problem.set_initial_condition((self.x - self.view) ** 2 <= 1)


@pytest.mark.parametrize(("step_size", "convexity"), [(0.1, 0.1), (0.5, 0.1), (1.5, 0.25)])
def test_no_step_of_a_strongly_convex_loss_has_a_smaller_weight_of_the_gap(step_size, convexity):
    """The worst |x+ - x*|^2 - (1 - alpha c)|x - x*|^2 is the weight that SC2 proves, exactly."""
    step = OneStepWithAGap(step_size=step_size, convexity=convexity)
    shrunk = (1 - step_size * convexity) * (step.x - step.best) ** 2
    step.problem.set_performance_metric((step.after - step.best) ** 2 - shrunk)

    values = {"R0": 0, "alpha": step_size, "T": 1, "L": 1, "c": convexity, "B": 1, "sigma": 0}
    weight = get("strongly_convex_contraction").evaluate(values) * convexity / step_size**2
    ratio = step_size * weight / solve(step.problem)
    show("one step of strongly_convex_contraction", values, ratio)

    assert ratio == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("step_size", [0.1, 0.5])
def test_no_step_of_a_convex_loss_has_a_smaller_weight_of_the_gap(step_size):
    step = OneStepWithAGap(step_size=step_size, convexity=0.0)
    above = step.loss.value(step.view) - step.loss.value(step.best)
    moved = (step.after - step.best) ** 2 - (step.x - step.best) ** 2
    step.problem.set_performance_metric(moved + 2 * step_size * above)

    values = {"R0": 0, "alpha": step_size, "T": 1, "L": 1, "B": 1, "sigma": 0}
    bound = get("convex_sharp_step").evaluate(values) * 2 / step_size
    ratio = bound / solve(step.problem)
    show("one step of convex_sharp_step", values, ratio)

    assert ratio == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("contraction", [0.25, 0.5])
def test_error_feedback_is_bounded(contraction):
    """The codec may leave out any vector that the contraction allows: EF1 without noise."""
    step_size, steps = 1 - math.sqrt(contraction), 4
    problem = PEP()
    loss = problem.declare_function(SmoothFunction, L=1.0)
    corrected, residual, infimum = problem.set_initial_point(), 0 * Point(), Expression()
    sizes = []
    for _ in range(steps):
        gradient = loss.gradient(corrected + residual)
        at_corrected, value = loss.oracle(corrected)
        problem.add_constraint(value - at_corrected**2 / 2 >= infimum)
        problem.add_constraint(loss.value(corrected + residual) - gradient**2 / 2 >= infimum)
        sizes.append(at_corrected**2)
        left_out = Point()
        problem.add_constraint(left_out**2 <= contraction * (residual + step_size * gradient) ** 2)
        corrected, residual = corrected - step_size * gradient, left_out
    start = loss.value(problem.list_of_points[0])
    problem.set_initial_condition(start - infimum <= 1)
    problem.set_performance_metric(sum(sizes) / steps)

    values = {"Delta": 1, "alpha": step_size, "T": steps, "L": 1, "gamma": contraction, "sigma": 0}

    assert compare("error_feedback_nonconvex", values, problem) >= 1 - SOLVER_ACCURACY


@pytest.mark.parametrize("contraction", [0.5, 0.9])
def test_the_residual_of_error_feedback_reaches_its_constant(contraction):
    """After T steps the worst residual is the constant times 1 - gamma^(T/2), exactly."""
    steps = 6
    problem = PEP()
    residual = 0 * Point()
    for _ in range(steps):
        gradient, left_out = Point(), Point()
        problem.add_constraint(gradient**2 <= 1)
        problem.add_constraint(left_out**2 <= contraction * (residual + gradient) ** 2)
        residual = left_out
    problem.set_performance_metric(residual**2)
    worst = math.sqrt(solve(problem))

    bound = get("error_feedback_gap").evaluate({"gamma": contraction, "M": 1})
    reached = 1 - contraction ** (steps / 2)
    show("error_feedback_gap", {"gamma": contraction, "T": steps}, bound / worst)

    assert worst / bound == pytest.approx(reached, rel=1e-5)
