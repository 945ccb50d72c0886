"""Where methods become unstable on a quadratic, on both sides of the limit."""

from math import pi, sin, sqrt

import numpy as np
import pytest

from elastic_consistency.optimization.update_rules import EASGD, SGD
from elastic_consistency.optimization.update_rules.easgd import (
    largest_stable_exchange_weight,
    largest_stable_weight_step_first,
)


def _delayed_sgd(staleness, step_size, n_steps):
    """|x| at the end of SGD on x^2 / 2 whose gradients are all `staleness` steps old."""
    rule, models = SGD(step_size), [np.ones((1, 1))] * (staleness + 1)
    for _ in range(n_steps):
        x, _ = rule.step(models[-1], models[-1 - staleness], None)
        models = [*models[-staleness - 1 :], x]
    return abs(x.item())


@pytest.mark.parametrize("staleness", [0, 1, 2, 5, 10])
def test_delayed_sgd_is_stable_up_to_its_limit(staleness):
    """2 sin(pi / (2 (2 tau + 1))): roots of z^(tau+1) - z^tau + alpha leave the unit circle."""
    limit = 2 * sin(pi / (2 * (2 * staleness + 1)))
    n_steps = 8000 * (staleness + 1)

    assert _delayed_sgd(staleness, 0.99 * limit, n_steps) < 1e-3
    assert _delayed_sgd(staleness, 1.01 * limit, n_steps) > 1e3


def _exchange_first(rule, x, centre):
    spring = rule.exchange_weight * (x - centre)
    moved, _ = rule.step(x - spring, x, None)
    return moved, centre + spring


def _step_first(rule, x, centre):
    x, _ = rule.step(x, x, None)
    spring = rule.exchange_weight * (x - centre)
    return x - spring, centre + spring


def _size_after(order, rate, weight, n_rounds=6000):
    rule = EASGD(rate, weight / rate)
    x, centre = np.array([[1.0]]), np.array([[-0.5]])
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_rounds):
            x, centre = order(rule, x, centre)
    return np.nan_to_num(abs(x) + abs(centre), nan=np.inf, posinf=np.inf).item()


@pytest.mark.parametrize("rate", [0.5, 1.0, 1.5])
def test_easgd_is_stable_up_to_its_limit(rate):
    limit = largest_stable_exchange_weight(rate)

    assert limit == (4 - 2 * rate) / (4 - rate)
    assert _size_after(_exchange_first, rate, 0.98 * limit) < 1e-3
    assert _size_after(_exchange_first, rate, 1.02 * limit) > 1e3


@pytest.mark.parametrize("rate", [0.5, 1.0, 1.1, 1.2, 1.3, 1.5, 1.9])
def test_easgd_with_the_step_first_is_stable_up_to_its_own_limit(rate):
    limit = largest_stable_weight_step_first(rate)

    assert _size_after(_step_first, rate, 0.98 * limit) < 1e-3
    assert _size_after(_step_first, rate, 1.02 * limit) > 1e3


def test_the_known_limit_with_the_step_first_ends_at_four_minus_root_eight():
    """Beyond it the determinant, not the trace, is what leaves the unit circle."""
    turn = 4 - sqrt(8)

    for rate in (turn - 0.01, turn + 0.01):
        known = (4 - 2 * rate) / (4 - 3 * rate)
        assert (largest_stable_weight_step_first(rate) < known * (1 - 1e-9)) == (rate > turn)


@pytest.mark.parametrize("rate", [-0.1, 2.1])
def test_rates_without_a_limit_are_refused(rate):
    with pytest.raises(ValueError, match="must be in"):
        largest_stable_exchange_weight(rate)
    with pytest.raises(ValueError, match="must be in"):
        largest_stable_weight_step_first(rate)


@pytest.mark.parametrize("rate", np.linspace(0.05, 1.95, 20))
def test_the_limits_are_where_the_spectral_radius_is_one(rate):
    """An independent look: eigenvalues of the 2 x 2 maps, computed numerically."""
    a = largest_stable_exchange_weight(rate)
    first = np.array([[1 - rate - a, a], [a, 1 - a]])
    b = largest_stable_weight_step_first(rate)
    second = np.array([[(1 - b) * (1 - rate), b], [b * (1 - rate), 1 - b]])

    for matrix in (first, second):
        assert abs(np.linalg.eigvals(matrix)).max() == pytest.approx(1.0, abs=1e-9)
