"""Accumulated gradient normalisation: several local steps, then one commit of their mean."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class AGN(AbstractRule):
    """window local steps of SGD, then the server takes the mean of their updates.

    In operations it is `Downpour` with PUT(job -> commit, weight 1 / window). A program of the
    thesis' author calls this method ADAG; here `ADAG` is what the thesis itself calls so.
    Auxiliary sequence: at the server a job has weight alpha / window, its share times alpha.

    Attributes:
        step_size: alpha, > 0.
        window: lambda, >= 1, jobs between two commits.

    Source: Hermans, Spanakis, Moeckel (2017), arXiv:1710.02368. Its equation sums lambda + 1
        terms; its algorithm, followed here, sums lambda.
    """

    additive: ClassVar[bool] = True

    step_size: float
    window: int

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(self.window >= 1, self, "window", "a number of jobs >= 1")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    @property
    def commit_weight(self) -> float:
        """Weight of one job in its worker's commit."""
        return 1 / self.window

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state
