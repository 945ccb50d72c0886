"""What the plots of timing and staleness draw."""

from typing import Protocol

from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary
from elastic_consistency.studies.summaries.staleness_figures import StalenessFigures


class Subject(Protocol):
    """A contender of a study, or a single schedule."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def summary(self) -> ScheduleSummary:
        """Its first schedule at a glance."""
        ...

    @property
    def staleness(self) -> StalenessFigures:
        """Staleness in all of its schedules."""
        ...

    @property
    def digests(self) -> tuple[str, ...]:
        """Digest of every schedule."""
        ...
