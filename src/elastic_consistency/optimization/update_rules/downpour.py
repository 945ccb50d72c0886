"""Downpour: several local steps, then one commit of their sum."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class Downpour(AbstractRule):
    """window local steps of SGD, then the server takes the sum of their updates.

    In operations, for worker w with its own replica w and window 2: message <- replica -1,
    MIX(message -> w, keep 0); twice READ(job, w), GRADIENT, ENCODE, ADD(job -> w), STEP(w),
    PUT(job -> commit, weight `commit_weight`); ADD(commit -> -1), STEP(-1). With window 1 the
    local replica may be left out. Auxiliary sequence: that of SGD, at the server.

    Attributes:
        step_size: alpha, > 0.
        window: lambda, >= 1, jobs between two commits.

    Source: Dean et al. (2012), NIPS, Downpour SGD with n_fetch = n_push; the window:
        Hermans (2017), thesis.
    """

    additive: ClassVar[bool] = True

    step_size: float
    window: int = 1

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(self.window >= 1, self, "window", "a number of jobs >= 1")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    @property
    def commit_weight(self) -> float:
        """Weight of one job in its worker's commit."""
        return 1.0

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
