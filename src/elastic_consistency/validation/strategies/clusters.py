"""Strategies for machines and protocols; they shrink to equal workers on free links."""

from hypothesis import strategies as st

from elastic_consistency.simulator import Cluster, Flat, Link, Ring, Tree, Worker
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AllReduce,
    AsynchronousServer,
)
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


def protocols() -> st.SearchStrategy[AbstractProtocol]:
    """Every protocol that runs on any cluster."""
    collectives = st.sampled_from((Flat(), Ring(), Tree()))
    return st.just(AsynchronousServer()) | st.builds(AllReduce, collectives)
