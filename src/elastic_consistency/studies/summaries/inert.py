"""What is set in a study and changes nothing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from elastic_consistency.schedule import Schedule

if TYPE_CHECKING:
    from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary


# A network that is the same everywhere is written down for both.
_ROLES = frozenset(("links to the server", "links between workers"))


def inert_in(schedule: Schedule) -> tuple[str, ...]:
    """Parts of cluster and payload that were set and that the protocol has no use for.

    Where all links are alike, they describe one network; it is of use if one of its roles is.
    """
    told = schedule.metadata.provenance
    parts = tuple(told.get("inert", ()))
    if len(_ROLES.intersection(parts)) == 1 and _has_one_network(told["cluster"]):
        return tuple(part for part in parts if part not in _ROLES)
    return parts


def _has_one_network(cluster: dict[str, Any]) -> bool:
    """Whether all links of a cluster, as its provenance tells it, are alike."""
    workers = (told.get("value", told) for told in cluster["workers"])
    links = [worker[end] for worker in workers for end in ("uplink", "downlink")]
    return not cluster["exceptions"] and all(link == cluster["fabric"] for link in links)


def inert_sentences(summaries: "Iterable[ScheduleSummary]") -> tuple[str, ...]:
    """One warning for each part that none of the contenders has a use for.

    A part that only some of them ignore is no mistake: a server uses links to the server, an
    all-reduce links between workers. Each summary names its own.
    """
    lists = [summary.inert for summary in summaries]
    everywhere = [part for part in lists[0] if all(part in other for other in lists)]
    return tuple(f"set without effect on any contender: {part}" for part in everywhere)
