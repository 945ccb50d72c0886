"""What is set in a study and changes nothing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from elastic_consistency.schedule import Schedule

if TYPE_CHECKING:
    from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary


def inert_in(schedule: Schedule) -> tuple[str, ...]:
    """Parts of cluster and payload that were set and that the protocol has no use for."""
    return tuple(schedule.metadata.provenance.get("inert", ()))


def inert_sentences(summaries: "Iterable[ScheduleSummary]") -> tuple[str, ...]:
    """One warning for each part that none of the contenders has a use for.

    A part that only some of them ignore is no mistake: a server uses links to the server, an
    all-reduce links between workers. Each summary names its own.
    """
    lists = [summary.inert for summary in summaries]
    everywhere = [part for part in lists[0] if all(part in other for other in lists)]
    return tuple(f"set without effect on any contender: {part}" for part in everywhere)
