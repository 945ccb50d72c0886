"""Steps written into a given array: the rules' own arithmetic, without new arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from elastic_consistency.optimization.update_rules import (
    SGD,
    AbstractRule,
    DelayAdaptive,
    Downpour,
    DynSGD,
    HeavyBall,
    Scheduled,
    StalenessAwareSGD,
)

Array = np.ndarray
Step = Callable[[Array, Array, Array], None]
_PLAIN_DESCENT = (SGD, DelayAdaptive, Downpour, DynSGD, StalenessAwareSGD)


def sends_its_gradient(rule: AbstractRule) -> bool:
    """Whether a worker sends the gradient as it is."""
    if isinstance(rule, Scheduled):
        return sends_its_gradient(rule.rule)
    return type(rule).encode is AbstractRule.encode and not rule.needs_view


def is_plain_descent(rule: AbstractRule) -> bool:
    """Whether a step is x - step_size * buffer and nothing else."""
    return isinstance(rule, _PLAIN_DESCENT)


def in_place_step(rule: AbstractRule, blank: Array) -> Step:
    """A function (x, update, out) for one replica, which writes the new model to `out`.

    It may overwrite `update`; `out` may be `x` or `update` itself.

    Args:
        rule: The update rule.
        blank: (R, d) first model of the replica.
    """
    if is_plain_descent(rule):
        return _descent(_scalar(rule.auxiliary_step_size, blank))
    if isinstance(rule, HeavyBall):
        return _heavy_ball(rule, np.zeros_like(blank))
    return _step_of_any_rule(rule, rule.replica_state(blank))


def _descent(step_size: Array) -> Step:
    def step(x: Array, update: Array, out: Array) -> None:
        np.multiply(update, step_size, update)
        np.subtract(x, update, out)

    return step


def _heavy_ball(rule: HeavyBall, velocity: Array) -> Step:
    step_size, momentum = _scalar(rule.step_size, velocity), _scalar(rule.momentum, velocity)

    def step(x: Array, update: Array, out: Array) -> None:
        np.multiply(velocity, momentum, velocity)
        np.add(velocity, update, velocity)
        np.multiply(velocity, step_size, update)
        np.subtract(x, update, out)

    return step


def _step_of_any_rule(rule: AbstractRule, state: Any) -> Step:
    def step(x: Array, update: Array, out: Array) -> None:
        nonlocal state
        # A rule may keep what it is given, and slots are written again.
        moved, state = rule.step(x.copy(), update.copy(), state)
        np.copyto(out, moved)

    return step


def _scalar(value: float, blank: Array) -> Array:
    """A zero-dimensional array: NumPy would convert a float anew in every call."""
    return np.asarray(value, blank.dtype)
