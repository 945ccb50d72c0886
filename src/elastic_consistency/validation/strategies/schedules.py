"""Strategies for schedules; they shrink to few jobs of few workers."""

from dataclasses import dataclass
from typing import final

import numpy as np
from hypothesis import strategies as st

from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.lock_step import lock_step
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AsynchronousServer,
    LocalSgd,
    LocalStepsServer,
    NormBounded,
)
from elastic_consistency.validation.adversaries import late_messages, server_schedule
from elastic_consistency.validation.strategies.clusters import (
    clusters,
    partitioned_clusters,
    unreliable_clusters,
)
from elastic_consistency.validation.strategies.protocols import (
    block_protocols,
    norm_bounded,
    protocols,
    protocols_of,
)


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


@final
@dataclass(frozen=True, slots=True, eq=False)
class SimulatedRun:
    """A protocol on machines, and the schedule that they made.

    Attributes:
        protocol: The method.
        cluster: The machines, with their faults.
        schedule: The schedule, drained.
    """

    protocol: AbstractProtocol
    cluster: Cluster
    schedule: Schedule


@st.composite
def runs(
    draw: st.DrawFn, *, sizes: tuple[int, ...] = (), max_workers: int = 4, max_jobs: int = 25
) -> SimulatedRun:
    """Runs of every protocol, each with all that may go wrong with it.

    Args:
        draw: By Hypothesis.
        sizes: Parameters in each block, for the protocols with blocks; by default those without.
        max_workers: Largest cluster.
        max_jobs: Jobs of one schedule, as long as one round fits.
    """
    if not sizes and draw(st.integers(0, 4)) == 4:
        machines = draw(unreliable_clusters(max_workers=max_workers))
        return _run(draw, AsynchronousServer(), machines, max_jobs)
    machines = draw(partitioned_clusters(max_workers=max_workers))
    if sizes:
        method = draw(block_protocols(sizes) | norm_bounded(sizes))
    else:
        method = draw(protocols_of(machines.n_workers))
    return _run(draw, method, machines, max_jobs)


def _run(
    draw: st.DrawFn, method: AbstractProtocol, machines: Cluster, max_jobs: int
) -> SimulatedRun:
    least = jobs_of_a_round(method, machines.n_workers)
    until = Until(jobs=draw(st.integers(least, max(max_jobs, least))))
    seed = draw(st.integers(0, 3))
    if isinstance(method, NormBounded):
        problem = Quadratic(np.ones(sum(method.block_sizes())))
        start = problem.start()[None]
        made = lock_step(method, machines, problem, SGD(0.25), start=start, until=until, seed=seed)
    else:
        made = simulate(method, machines, until=until, seed=seed)
    return SimulatedRun(method, machines, made)


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
