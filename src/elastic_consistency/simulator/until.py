"""When a simulation ends."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import final

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True)
class Until:
    """No job begins once either limit is reached.

    Attributes:
        jobs: Largest number of jobs, > 0, or None; a round of p jobs begins only if all fit.
        time_s: No job begins at or after this time, s, > 0; a window of steps that has begun
            goes on.
        drain: Whether jobs in flight at the limit are finished; else they are declared in
            flight and the schedule ends at once.
    """

    jobs: int | None = None
    time_s: float = inf
    drain: bool = True

    def __post_init__(self) -> None:
        check(self.jobs is None or self.jobs > 0, self, "jobs", "a number of jobs > 0, or None")
        check(self.time_s > 0, self, "time_s", "a number of seconds > 0")
        if self.jobs is None and not isfinite(self.time_s):
            raise ValueError("Until must be given jobs, time_s or both, got neither.")
