"""Gradient energy matching as its authors ran it."""

from dataclasses import dataclass
from typing import ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.optimization.update_rules.gem_energy import energy_factor


@final
@dataclass(frozen=True, slots=True)
class GEM(AbstractRule):
    """pi = clip((energy |m| - |theta - s|) / (eta |g + epsilon|), clamp);  x <- x - eta pi g.

    As `PrintedGEM`, with a clamp, a factor kappa on the energy of the proxy, the small number
    inside the absolute value, and the gradient taken at theta plus the worker's own commit,
    while |theta - s| still compares two pulls.

    In operations, for worker w with a replica w that only the view reads, and a job k that
    only pulls: READ(k, server) as `latest`, PUT(server -> m, 1), ENCODE(j), ADD(j -> server),
    STEP(server), MIX(m -> w, keep 0), DROP(k), ADD(j -> w), STEP(w), DROP(j), READ(j + 1, w),
    GRADIENT(j + 1). The view of job j + 1 is thus w, which is why the state keeps the last pull
    itself: it is (m, s), with s absent before the first ENCODE, when the view is the pull.
    Auxiliary sequence: it takes what is sent as its gradients; theorems for a constant step
    size do not apply.

    Attributes:
        step_size: eta, > 0.
        momentum: mu, in [0, 1), of the proxy.
        energy: kappa, > 0, factor on |m|; 1 matches the proxy.
        clamp: Smallest and largest pi.
        epsilon: Added to the gradient in the denominator.

    Source: Hermans, Louppe (2018), arXiv:1805.08469, equation 27, and the authors' program.
    """

    needs_view: ClassVar[bool] = True
    additive: ClassVar[bool] = True
    constant_step: ClassVar[bool] = False

    step_size: float
    momentum: float = 0.9
    energy: float = 1.0
    clamp: tuple[float, float] = (0.0, 5.0)
    epsilon: float = 1e-12

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 <= self.momentum < 1, self, "momentum", "a number in [0, 1)")
        check(0 < self.energy < float("inf"), self, "energy", "a finite number > 0")
        check(self.clamp[0] <= self.clamp[1], self, "clamp", "a pair (smallest, largest)")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    def worker_state(self, x):
        return array_namespace(x).zeros_like(x), None

    def encode(self, state, gradient, view, latest):
        xp = array_namespace(gradient)
        momentum, pulled = state
        pulled = view if pulled is None else pulled
        momentum = self.momentum * momentum - self.step_size * gradient
        length = self.step_size * xp.abs(gradient + self.epsilon)
        distance = xp.abs(latest - pulled)
        factor = energy_factor(self.energy * momentum, distance, length, self.clamp)
        return factor * gradient, (momentum, latest)

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
