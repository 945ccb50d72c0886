"""Gradient energy matching that knows which way the others moved."""

from dataclasses import dataclass
from typing import ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.optimization.update_rules.gem_energy import energy_factor


@final
@dataclass(frozen=True, slots=True)
class SignedGEM(AbstractRule):
    """pi = clip((|m| - sgn |theta - s|) / (eta |g| + epsilon), clamp);  x <- x - eta pi g.

    sgn is +1 where the others moved the way of the bare update -eta g, else -1: both energies
    then agree for either sign, as long as the clamp is inactive. s is the previous pull plus
    the own commit, which is the view itself: the own commit counts as no one's motion, and the
    speed of the proxy is met exactly.

    In operations as `GEM`: READ(k, server), PUT(server -> m, 1), ENCODE(j), ADD(j -> server),
    STEP(server), MIX(m -> w, keep 0), DROP(k), ADD(j -> w), STEP(w), DROP(j), READ(j + 1, w),
    GRADIENT(j + 1).
    Auxiliary sequence: it takes what is sent as its gradients; theorems for a
    constant step size do not apply.

    Attributes:
        step_size: eta, > 0.
        momentum: mu, in [0, 1), of the proxy.
        clamp: Smallest and largest pi.
        epsilon: > 0, keeps the quotient finite.

    Source: derived here from the energies of Hermans, Louppe (2018), arXiv:1805.08469.
    """

    needs_view: ClassVar[bool] = True
    additive: ClassVar[bool] = True
    constant_step: ClassVar[bool] = False

    step_size: float
    momentum: float = 0.9
    clamp: tuple[float, float] = (0.0, 5.0)
    epsilon: float = 1e-16

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 <= self.momentum < 1, self, "momentum", "a number in [0, 1)")
        check(self.clamp[0] <= self.clamp[1], self, "clamp", "a pair (smallest, largest)")
        check(self.epsilon > 0, self, "epsilon", "a number > 0")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def worker_state(self, x):
        return array_namespace(x).zeros_like(x)

    def encode(self, state, gradient, view, latest):
        xp = array_namespace(gradient)
        update = self.step_size * gradient
        momentum = self.momentum * state - update
        # The bare update is -eta g, so the others moved along it where the product is < 0.
        along = -xp.sign(gradient) * (latest - view)
        factor = energy_factor(momentum, along, xp.abs(update) + self.epsilon, self.clamp)
        return factor * gradient, momentum

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
