"""Momentum at the worker: what is sent is already averaged."""

from dataclasses import dataclass
from typing import ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class WorkerMomentum(AbstractRule):
    """m <- momentum * m + g at the worker, which sends m; x <- x - step_size * buffer.

    With `nesterov` it sends g + momentum * m instead. The steps at the replica add up, so any
    grouping of updates is allowed. Every gradient ends up in x with weight alpha / (1 - mu),
    part of it in later updates of its worker: with one worker and one step an update x equals
    that of `HeavyBall`; on a server every one of n workers contributes its own gap of
    alpha mu / (1 - mu) ||m||, as the residual of error feedback does.

    Attributes:
        step_size: alpha, > 0.
        momentum: mu, in [0, 1).
        nesterov: Whether the update looks ahead.

    Source: Lin, Han, Mao, Wang, Dally (2018), arXiv:1712.01887, momentum correction.
    """

    additive: ClassVar[bool] = True

    step_size: float
    momentum: float
    nesterov: bool = False

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 <= self.momentum < 1, self, "momentum", "a number in [0, 1)")

    @property
    def auxiliary_step_size(self):
        return self.step_size / (1 - self.momentum)

    def worker_state(self, x):
        return array_namespace(x).zeros_like(x)

    def encode(self, state, gradient, view, latest):
        velocity = self.momentum * state + gradient
        update = gradient + self.momentum * velocity if self.nesterov else velocity
        return update, velocity

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
