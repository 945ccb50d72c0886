"""Strategies for schedules; they shrink to few jobs of few workers."""

from hypothesis import strategies as st

from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.protocols import AbstractProtocol, LocalSgd, LocalStepsServer
from elastic_consistency.validation.adversaries import late_messages, server_schedule
from elastic_consistency.validation.strategies.clusters import clusters, protocols


def server_schedules(*, max_workers: int = 5, max_jobs: int = 25) -> st.SearchStrategy[Schedule]:
    """Every schedule that delays can make of an asynchronous server without latency."""
    return st.integers(1, max_workers).flatmap(
        lambda n: st.lists(st.integers(0, n - 1), max_size=max_jobs - n).map(
            lambda order: server_schedule(order, n_workers=n)
        )
    )


@st.composite
def late_message_schedules(
    draw: st.DrawFn, *, max_nodes: int = 4, max_rounds: int = 5, max_lateness: int = 3
) -> Schedule:
    """Message passing in rounds, every message as late as it likes up to `max_lateness`."""
    n_nodes = draw(st.integers(1, max_nodes))
    n_rounds = draw(st.integers(1, max_rounds))
    size = n_nodes * n_nodes * n_rounds
    late = draw(st.lists(st.integers(0, max_lateness), min_size=size, max_size=size))
    return late_messages(n_nodes, n_rounds, lambda i, j, s: late[(s * n_nodes + i) * n_nodes + j])


@st.composite
def simulated_schedules(
    draw: st.DrawFn,
    *,
    protocol: st.SearchStrategy[AbstractProtocol] | None = None,
    cluster: st.SearchStrategy[Cluster] | None = None,
    max_jobs: int = 25,
) -> Schedule:
    """Drained schedules of a protocol on a cluster."""
    machines = draw(clusters() if cluster is None else cluster)
    method = draw(protocols() if protocol is None else protocol)
    least = jobs_of_a_round(method, machines.n_workers)
    jobs = draw(st.integers(least, max(max_jobs, least)))
    return simulate(method, machines, until=Until(jobs=jobs), seed=draw(st.integers(0, 3)))


def jobs_of_a_round(protocol: AbstractProtocol, n_workers: int) -> int:
    """Jobs without which a protocol does not begin."""
    if isinstance(protocol, LocalSgd):
        return protocol.steps * n_workers
    if isinstance(protocol, LocalStepsServer):
        return protocol.window * n_workers
    return n_workers


def schedules(*, max_jobs: int = 25) -> st.SearchStrategy[Schedule]:
    """Schedules of every kind: chosen order by order, and simulated."""
    return st.one_of(
        server_schedules(max_jobs=max_jobs),
        late_message_schedules(),
        simulated_schedules(max_jobs=max_jobs),
    )
