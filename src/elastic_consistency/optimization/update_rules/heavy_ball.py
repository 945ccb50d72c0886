"""Heavy-ball momentum at the replica."""

from dataclasses import dataclass
from typing import ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class HeavyBall(AbstractRule):
    """m <- momentum * m + buffer;  x <- x - step_size * m.

    It is SGD of step alpha / (1 - mu) on z = x - alpha mu / (1 - mu) m: every gradient ends up
    in x with weight alpha (1 + mu + mu^2 + ...). It is linear but not additive: two steps
    with a and b differ from one step with a + b, so the number of steps matters.

    Attributes:
        step_size: alpha, > 0.
        momentum: mu, in [0, 1).

    Source: Polyak (1964), doi:10.1016/0041-5553(64)90137-5; z: Ghadimi, Feyzmahdavian,
        Johansson (2015), arXiv:1412.7457.
    """

    additive: ClassVar[bool] = False

    step_size: float
    momentum: float

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 <= self.momentum < 1, self, "momentum", "a number in [0, 1)")

    @property
    def auxiliary_step_size(self):
        return self.step_size / (1 - self.momentum)

    def replica_state(self, x):
        return array_namespace(x).zeros_like(x)

    def step(self, x, buffer, state):
        velocity = self.momentum * state + buffer
        return x - self.step_size * velocity, velocity
