"""Clocks that disagree: what each machine would have written into its own log."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, final

import numpy as np

from elastic_consistency._checks import check

if TYPE_CHECKING:
    from elastic_consistency.schedule import Schedule


@final
@dataclass(frozen=True, slots=True)
class Clock:
    """At true time t the clock shows offset_s + (1 + drift) t.

    It changes no event: the schedule keeps the true time and order. It is what a test of the
    alignment of clocks starts from, where each machine's record bears its own times.

    Attributes:
        offset_s: What it shows at time 0, s, finite.
        drift: How many seconds it gains each second, > -1; 1e-5 is an ordinary quartz.
    """

    offset_s: float = 0.0
    drift: float = 0.0

    def __post_init__(self) -> None:
        check(isfinite(self.offset_s), self, "offset_s", "a finite number of seconds")
        check(-1 < self.drift and isfinite(self.drift), self, "drift", "a finite number > -1")

    def reading(self, time: float) -> float:
        """What it shows at the true `time`, s."""
        return self.offset_s + (1 + self.drift) * time

    @property
    def is_true(self) -> bool:
        """Whether it always shows the true time."""
        return self.offset_s == 0 and self.drift == 0


def own_times(schedule: "Schedule") -> np.ndarray:
    """Time of each row on the clock of whoever acted, s.

    The skews are read off the annotations of the schedule; the server's clock, and that of
    rows without an actor, is the true one. A worker's own rows stay in their true order, as no
    clock runs backwards; across workers the order of the times is not that of the rows.

    Args:
        schedule: A schedule of a cluster whose workers have a `Worker.clock`.

    Returns:
        (E,) float64.
    """
    times = schedule.rows.time.copy()
    for remark in schedule.metadata.annotations:
        if remark.kind == "clock":
            offset, drift = (float(part) for part in remark.detail.split())
            own = schedule.rows.worker == remark.worker
            times[own] = offset + (1 + drift) * schedule.rows.time[own]
    return times


def describe_clock(clock: Clock) -> str:
    """Offset and drift as the detail of an annotation, without loss of digits."""
    return f"{clock.offset_s!r} {clock.drift!r}"
