"""Gradient energy matching exactly as its paper prints it, which diverges."""

from dataclasses import dataclass
from typing import ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.optimization.update_rules.gem_energy import energy_factor


@final
@dataclass(frozen=True, slots=True)
class PrintedGEM(AbstractRule):
    """m <- mu m - eta g;  pi = (|m| - |theta - s|) / (|eta g| + epsilon);  x <- x - eta pi g.

    s is the centre that the worker pulled last and theta the centre that it pulls now. Where
    others moved a coordinate by more than |m|, pi < 0 and the commit climbs: on quadratics it
    diverges, and a clamp at 0 (`clamp=(0, inf)`) alone cures it. Kept to show just that; `GEM`
    is the one to use.

    In operations: READ(j + 1, server), GRADIENT(j + 1), ENCODE(j) with view = s and
    latest = theta, ADD(j -> server), STEP(server). |theta - s| contains the worker's own previous
    commit, so the speed is n / (n + 1) of that of the proxy. Auxiliary sequence: it takes what
    is sent, pi g, as its gradients; theorems for a constant step size do not apply.

    Attributes:
        step_size: eta, > 0.
        momentum: mu, in [0, 1), of the proxy.
        epsilon: > 0, keeps the quotient finite.
        clamp: Smallest and largest pi; the printed algorithm has none.

    Source: Hermans, Louppe (2018), arXiv:1805.08469, algorithm 1.
    """

    needs_view: ClassVar[bool] = True
    additive: ClassVar[bool] = True
    constant_step: ClassVar[bool] = False

    step_size: float
    momentum: float = 0.9
    epsilon: float = 1e-16
    clamp: tuple[float, float] = (float("-inf"), float("inf"))

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 <= self.momentum < 1, self, "momentum", "a number in [0, 1)")
        check(self.epsilon > 0, self, "epsilon", "a number > 0")
        check(self.clamp[0] <= self.clamp[1], self, "clamp", "a pair (smallest, largest)")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def worker_state(self, x):
        return array_namespace(x).zeros_like(x)

    def encode(self, state, gradient, view, latest):
        xp = array_namespace(gradient)
        update = self.step_size * gradient
        momentum = self.momentum * state - update
        length = xp.abs(update) + self.epsilon
        factor = energy_factor(momentum, xp.abs(latest - view), length, self.clamp)
        return factor * gradient, momentum

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
