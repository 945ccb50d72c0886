"""Strategies for machines; they shrink to equal workers on free links, without faults."""

from dataclasses import replace
from itertools import pairwise
from math import inf

from hypothesis import strategies as st

from elastic_consistency.simulator import Cluster, Link, Payload, Worker
from elastic_consistency.simulator.cluster import SharedHost
from elastic_consistency.simulator.faults.fault_script import FaultScript
from elastic_consistency.simulator.network.background import BackgroundTraffic
from elastic_consistency.simulator.network.topology import Graph
from elastic_consistency.validation.strategies.delay_laws import (
    compute_laws,
    delay_laws,
    phases,
    seconds,
    short_compute_laws,
)
from elastic_consistency.validation.strategies.faults import fault_scripts, losses, partitions

_BANDWIDTHS = (1.0, 10.0)  # bytes a second, for messages of one and two bytes


def links() -> st.SearchStrategy[Link]:
    """Links with latency, jitter, losses and limited bandwidth."""
    jittery = st.builds(Link, seconds(zero=True), delay_laws(zero=True))
    lossy = st.builds(Link, seconds(zero=True), loss=losses(), resend_s=seconds())
    bandwidth = st.sampled_from(_BANDWIDTHS)
    narrow = st.builds(Link, seconds(zero=True), bandwidth_bytes_per_s=bandwidth)
    return st.one_of(st.just(Link()), st.builds(Link, seconds(zero=True)), jittery, lossy, narrow)


def busy_links() -> st.SearchStrategy[Link]:
    """Links on which others send now and then; they shrink to free ones."""
    others = st.builds(BackgroundTraffic, st.sampled_from((0.5, 0.9)), phases(), phases())
    busy = st.builds(
        Link,
        st.sampled_from((0.0, 0.5, 2.0)),
        bandwidth_bytes_per_s=st.sampled_from(_BANDWIDTHS),
        background=st.none() | others,
    )
    return st.one_of(st.just(Link()), st.builds(Link, st.sampled_from((0.5, 2.0))), busy)


def workers() -> st.SearchStrategy[Worker]:
    """Workers of any speed, each with its own links to the server."""
    slowdowns = st.sampled_from((1.0, 2.0, 10.0, 200.0))
    return st.builds(Worker, compute_laws(), slowdowns, links(), links())


def clusters(*, min_workers: int = 1, max_workers: int = 5) -> st.SearchStrategy[Cluster]:
    """`min_workers` to `max_workers` workers."""
    members = st.lists(workers(), min_size=min_workers, max_size=max_workers).map(tuple)
    return st.builds(Cluster, members, links())


@st.composite
def partitioned_clusters(draw: st.DrawFn, *, min_workers: int = 1, max_workers: int = 5) -> Cluster:
    """Clusters some of whose workers are cut off for a while; every protocol runs on them."""
    machines = draw(clusters(min_workers=min_workers, max_workers=max_workers))
    cuts = draw(st.lists(partitions(machines.n_workers), max_size=2))
    return replace(machines, faults=FaultScript(tuple(cuts)))


@st.composite
def unreliable_clusters(
    draw: st.DrawFn, *, min_workers: int = 1, max_workers: int = 5, crashes: bool = True
) -> Cluster:
    """Clusters of which nothing is one's own: links, ports, hosts, and the life of a worker.

    Nobody is slower than ten times: else the others would crash thousands of times meanwhile.

    Args:
        draw: By Hypothesis.
        min_workers: Smallest cluster.
        max_workers: Largest cluster.
        crashes: Whether workers crash, restart and join late and acknowledgements get lost, for
            protocols that know it; else some may be cut off.
    """
    slowdowns = st.sampled_from((1.0, 2.0, 10.0))
    member = st.builds(Worker, short_compute_laws(), slowdowns, busy_links(), busy_links())
    members = tuple(draw(st.lists(member, min_size=min_workers, max_size=max_workers)))
    n, shared = len(members), st.sampled_from((inf, *_BANDWIDTHS))
    cuts = st.lists(partitions(n), max_size=1).map(lambda cut: FaultScript(tuple(cut)))
    return Cluster(
        members,
        draw(busy_links()),
        server_bandwidth_bytes_per_s=draw(shared),
        shared_hosts=draw(shared_hosts(n)),
        faults=draw(fault_scripts(n) if crashes else cuts),
        fabric_bandwidth_bytes_per_s=draw(shared),
    )


def shared_hosts(n_workers: int) -> st.SearchStrategy[tuple[SharedHost, ...]]:
    """Nobody shares a machine, or some workers share one."""
    members = st.lists(st.integers(0, n_workers - 1), min_size=1, unique=True)
    contention = st.sampled_from((1.0, 0.5))
    host = st.builds(lambda who, c: (SharedHost(tuple(sorted(who)), c),), members, contention)
    return st.just(()) | host


def payload_for(cluster: Cluster) -> Payload:
    """Messages of a size where size matters: two bytes a model, one an update."""
    return Payload(2.0, 1.0) if cluster.limits_bandwidth() else Payload()


@st.composite
def graphs(draw: st.DrawFn, *, min_nodes: int = 1, max_nodes: int = 5) -> Graph:
    """Connected undirected graphs: a path in any order of the nodes, and any further edges."""
    n = draw(st.integers(min_nodes, max_nodes))
    path = draw(st.permutations(range(n)))
    edges = {(min(a, b), max(a, b)) for a, b in pairwise(path)}
    others = [(a, b) for a in range(n) for b in range(a + 1, n) if (a, b) not in edges]
    if others:
        edges |= set(draw(st.lists(st.sampled_from(others), unique=True, max_size=4)))
    return Graph(
        tuple(tuple(sorted({b for e in edges if a in e for b in e} - {a})) for a in range(n))
    )
