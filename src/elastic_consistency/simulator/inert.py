"""Inert parts of a cluster: set by the user, and of no effect on this protocol."""

from math import inf

from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.links import Link

#: All that `schedule.metadata.provenance["inert"]` can name.
PARTS = (
    "links to the server",
    "links between workers",
    "shared port of the server",
    "shared bandwidth between workers",
    "shared hosts",
    "partitions",
    "lost acknowledgements",
)


def inert_parts(cluster: Cluster, used: set[str]) -> list[str]:
    """Parts that are set on `cluster` and not among those that the protocol has `used`."""
    free, script = Link(), cluster.faults
    ends = {link for worker in cluster.workers for link in (worker.uplink, worker.downlink)}
    is_set = (
        ends != {free},
        cluster.fabric != free or bool(cluster.exceptions),
        cluster.server_bandwidth_bytes_per_s < inf,
        cluster.fabric_bandwidth_bytes_per_s < inf,
        any(host.contention > 0 and len(host.workers) > 1 for host in cluster.shared_hosts),
        script.has_partitions,
        script.lost_acknowledgements > 0,
    )
    return [part for part, here in zip(PARTS, is_set, strict=True) if here and part not in used]
