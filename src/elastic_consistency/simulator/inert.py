"""Inert parts of a cluster or payload: set by the user, and of no effect on this protocol."""

from math import inf

from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.network.links import Link
from elastic_consistency.simulator.payload import Payload
from elastic_consistency.simulator.provenance import provenance_of

#: All that `schedule.metadata.provenance["inert"]` can name.
PARTS = (
    "links to the server",
    "links between workers",
    "shared port of the server",
    "shared bandwidth between workers",
    "shared hosts",
    "partitions",
    "lost acknowledgements",
    "size of the model",
    "size of an update",
    "time to resend",
)

# Where all links are alike they describe one network, and one of its roles is use enough.
_ROLES = frozenset(PARTS[:2])

#: Those of them that matter only where a bandwidth is limited.
SIZES = ("size of the model", "size of an update")


def inert_parts(cluster: Cluster, payload: Payload, used: set[str]) -> list[str]:
    """Parts that are set, and have no effect on a protocol that has `used` these."""
    free, script = Link(), cluster.faults
    # By identity, since a law of jitter need not have a hash.
    by_name = {id(end): end for own in cluster.workers for end in (own.uplink, own.downlink)}
    ends = tuple(by_name.values())
    links = (*ends, cluster.fabric, *(peer.link for peer in cluster.exceptions))
    is_set = (
        any(link != free for link in ends),
        cluster.fabric != free or bool(cluster.exceptions),
        cluster.server_bandwidth_bytes_per_s < inf,
        cluster.fabric_bandwidth_bytes_per_s < inf,
        any(host.contention > 0 and len(host.workers) > 1 for host in cluster.shared_hosts),
        script.has_partitions,
        script.lost_acknowledgements > 0,
        payload.model_bytes > 0,
        payload.update_bytes > 0,
        # Whether a link that loses something is in use is a matter of the links.
        any(link.loss == 0 and link.resend_s is not None for link in links)
        or (script.lost_acknowledgements == 0 and script.resend_s is not None),
    )
    if used & _ROLES and _has_one_network(cluster, ends):
        used = used | _ROLES
    bites = used if _limits_bandwidth(cluster, ends, used) else used - set(SIZES)
    return [part for part, here in zip(PARTS, is_set, strict=True) if here and part not in bites]


def _has_one_network(cluster: Cluster, ends: tuple[Link, ...]) -> bool:
    """Whether all links are alike, those to the server and those between workers."""
    return not cluster.exceptions and all(_alike(link, cluster.fabric) for link in ends)


def _alike(first: Link, second: Link) -> bool:
    try:
        return first == second
    except ValueError:  # a law of jitter whose fields are arrays has no single truth value
        return provenance_of(first) == provenance_of(second)


def _limits_bandwidth(cluster: Cluster, ends: tuple[Link, ...], used: set[str]) -> bool:
    """Whether anything that is in use has a finite bandwidth."""
    between = (cluster.fabric, *(peer.link for peer in cluster.exceptions))
    rates = {
        "links to the server": [link.bandwidth_bytes_per_s for link in ends],
        "shared port of the server": [cluster.server_bandwidth_bytes_per_s],
        "links between workers": [link.bandwidth_bytes_per_s for link in between],
        "shared bandwidth between workers": [cluster.fabric_bandwidth_bytes_per_s],
    }
    return any(min(rates[part]) < inf for part in used & rates.keys())
