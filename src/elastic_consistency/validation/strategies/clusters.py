"""Strategies for machines and protocols; they shrink to equal workers on free links."""

from itertools import pairwise

from hypothesis import strategies as st

from elastic_consistency.simulator import Cluster, Flat, Link, Ring, Tree, Worker
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AllReduce,
    AsynchronousServer,
    BackupWorkers,
    BoundedStaleness,
    IncrementalAggregate,
    LocalSgd,
    LocalStepsServer,
    MessagePassing,
    QueuedServer,
    Rennala,
    Ringmaster,
)
from elastic_consistency.simulator.topology import Graph
from elastic_consistency.validation.strategies.delay_laws import (
    compute_laws,
    delay_laws,
    seconds,
)


def links() -> st.SearchStrategy[Link]:
    """Links with latency and jitter, without a limit on bandwidth."""
    jittery = st.builds(Link, seconds(zero=True), delay_laws(zero=True))
    return st.just(Link()) | st.builds(Link, seconds(zero=True)) | jittery


def workers() -> st.SearchStrategy[Worker]:
    """Workers of any speed, each with its own links to the server."""
    slowdowns = st.sampled_from((1.0, 2.0, 10.0, 200.0))
    return st.builds(Worker, compute_laws(), slowdowns, links(), links())


def clusters(*, max_workers: int = 5) -> st.SearchStrategy[Cluster]:
    """One to `max_workers` workers."""
    members = st.lists(workers(), min_size=1, max_size=max_workers).map(tuple)
    return st.builds(Cluster, members, links())


@st.composite
def graphs(draw: st.DrawFn, *, max_nodes: int = 5) -> Graph:
    """Connected undirected graphs: a path in any order of the nodes, and any further edges."""
    n = draw(st.integers(1, max_nodes))
    path = draw(st.permutations(range(n)))
    edges = {(min(a, b), max(a, b)) for a, b in pairwise(path)}
    others = [(a, b) for a in range(n) for b in range(a + 1, n) if (a, b) not in edges]
    if others:
        edges |= set(draw(st.lists(st.sampled_from(others), unique=True, max_size=4)))
    return Graph(
        tuple(tuple(sorted({b for e in edges if a in e for b in e} - {a})) for a in range(n))
    )


def servers() -> st.SearchStrategy[AbstractProtocol]:
    """Protocols with one model at a server, to which each update goes with weight at most 1."""
    few = st.integers(1, 4)
    return st.one_of(
        st.just(AsynchronousServer()),
        st.builds(QueuedServer, delay_laws(zero=True)),
        st.builds(BoundedStaleness, st.integers(0, 3).map(float)),
        st.builds(Ringmaster, few, st.booleans()),
        st.builds(Rennala, few),
        st.builds(BackupWorkers, st.just(1), st.booleans()),
    )


def protocols() -> st.SearchStrategy[AbstractProtocol]:
    """Every protocol that runs on any cluster."""
    collectives = st.sampled_from((Flat(), Ring(), Tree()))
    few = st.integers(1, 3)
    return st.one_of(
        servers(),
        st.builds(AllReduce, collectives),
        st.builds(LocalSgd, few, collectives),
        st.builds(LocalStepsServer, few, st.booleans()),
        st.builds(MessagePassing, st.integers(0, 3)),
        st.just(IncrementalAggregate()),
    )
