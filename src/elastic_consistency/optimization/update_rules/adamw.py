"""AdamW at the replica."""

from dataclasses import dataclass
from typing import ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class AdamW(AbstractRule):
    """x <- (1 - step_size * weight_decay) x - step_size * m_hat / (sqrt(v_hat) + epsilon).

    m and v are exponential means of buffers and of their squares, divided by 1 - beta^k at
    step k. The state is (m, v, k). The step is not linear in the buffer: no gradient has a
    weight of its own, there is no auxiliary sequence, and no theorem of this package applies.

    Attributes:
        step_size: alpha, > 0.
        first_decay: beta_1, in [0, 1).
        second_decay: beta_2, in [0, 1).
        epsilon: > 0, keeps the quotient finite.
        weight_decay: lambda, >= 0, decoupled from the gradient.

    Source: Loshchilov, Hutter (2019), arXiv:1711.05101, algorithm 2.
    """

    additive: ClassVar[bool] = False
    constant_step: ClassVar[bool] = False

    step_size: float
    first_decay: float = 0.9
    second_decay: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 <= self.first_decay < 1, self, "first_decay", "a number in [0, 1)")
        check(0 <= self.second_decay < 1, self, "second_decay", "a number in [0, 1)")
        check(self.epsilon > 0, self, "epsilon", "a number > 0")
        check(0 <= self.weight_decay < float("inf"), self, "weight_decay", "a finite number >= 0")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def replica_state(self, x):
        zeros = array_namespace(x).zeros_like(x)
        return zeros, zeros, 0

    def step(self, x, buffer, state):
        first, second, count = state
        count += 1
        first = self.first_decay * first + (1 - self.first_decay) * buffer
        second = self.second_decay * second + (1 - self.second_decay) * (buffer * buffer)
        mean = first / (1 - self.first_decay**count)
        spread = array_namespace(x).sqrt(second / (1 - self.second_decay**count))
        decayed = x * (1 - self.step_size * self.weight_decay)
        return decayed - self.step_size * (mean / (spread + self.epsilon)), (first, second, count)
