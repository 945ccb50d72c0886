"""Strategies for machines; they shrink to equal workers on free links, without faults."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import strategies as st

from elastic_consistency.simulator import Cluster, Link, Worker
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.fault_script import FaultScript
from elastic_consistency.simulator.topology import Graph
from elastic_consistency.validation.strategies.delay_laws import (
    compute_laws,
    delay_laws,
    seconds,
)
from elastic_consistency.validation.strategies.faults import fault_scripts, losses, partitions


def links() -> st.SearchStrategy[Link]:
    """Links with latency, jitter and losses, without a limit on bandwidth."""
    jittery = st.builds(Link, seconds(zero=True), delay_laws(zero=True))
    lossy = st.builds(Link, seconds(zero=True), loss=losses(), resend_s=seconds())
    return st.one_of(st.just(Link()), st.builds(Link, seconds(zero=True)), jittery, lossy)


def workers() -> st.SearchStrategy[Worker]:
    """Workers of any speed, each with its own links to the server."""
    slowdowns = st.sampled_from((1.0, 2.0, 10.0, 200.0))
    return st.builds(Worker, compute_laws(), slowdowns, links(), links())


def clusters(*, max_workers: int = 5) -> st.SearchStrategy[Cluster]:
    """One to `max_workers` workers."""
    members = st.lists(workers(), min_size=1, max_size=max_workers).map(tuple)
    return st.builds(Cluster, members, links())


@st.composite
def partitioned_clusters(draw: st.DrawFn, *, max_workers: int = 5) -> Cluster:
    """Clusters some of whose workers are cut off for a while; every protocol runs on them."""
    machines = draw(clusters(max_workers=max_workers))
    cuts = draw(st.lists(partitions(machines.n_workers), max_size=2))
    return replace(machines, faults=FaultScript(tuple(cuts)))


@st.composite
def unreliable_clusters(draw: st.DrawFn, *, max_workers: int = 5) -> Cluster:
    """Clusters whose workers crash, restart and join late, for protocols that know faults.

    Nobody is slower than ten times: else the others would crash thousands of times meanwhile.
    """
    laws = st.sampled_from((Constant(1.0), Exponential(1.0)))
    slowdowns = st.sampled_from((1.0, 2.0, 10.0))
    near = st.just(Link()) | st.builds(Link, st.sampled_from((0.5, 2.0)))
    member = st.builds(Worker, laws, slowdowns, near, near)
    members = draw(st.lists(member, min_size=1, max_size=max_workers))
    return Cluster(tuple(members), faults=draw(fault_scripts(len(members))))


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
