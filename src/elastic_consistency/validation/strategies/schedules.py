"""Strategies for schedules; they shrink to few jobs of few workers."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.lock_step import lock_step
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AbstractUnreliableProtocol,
    LocalSgd,
    LocalStepsServer,
    NormBounded,
)
from elastic_consistency.validation.adversaries import late_messages, server_schedule
from elastic_consistency.validation.strategies.clusters import (
    clusters,
    partitioned_clusters,
    payload_for,
    unreliable_clusters,
)
from elastic_consistency.validation.strategies.faults import fault_scripts
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
    return _run(draw, method, machines, max_jobs)


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


def clusters_for(method: AbstractProtocol, n_workers: int) -> st.SearchStrategy[Cluster]:
    """`n_workers` workers with all that may go wrong with a protocol, as the protocol says."""
    crashes = isinstance(method, AbstractUnreliableProtocol)
    size = {"min_workers": n_workers, "max_workers": n_workers}
    return partitioned_clusters(**size) | unreliable_clusters(**size, crashes=crashes)


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
    # Machines first: a worker that is left out does not change what is drawn of the others.
    strained = draw(st.booleans())
    if strained:
        machines = draw(unreliable_clusters(max_workers=max_workers, crashes=False))
    else:
        machines = draw(partitioned_clusters(max_workers=max_workers))
    n = machines.n_workers
    method = draw(block_protocols(sizes) | norm_bounded(sizes) if sizes else protocols_of(n))
    if strained and isinstance(method, AbstractUnreliableProtocol):
        machines = replace(machines, faults=draw(fault_scripts(n)))
    return SimulatedRun(method, machines, _run(draw, method, machines, max_jobs))


def _run(draw: st.DrawFn, method: AbstractProtocol, machines: Cluster, max_jobs: int) -> Schedule:
    least = jobs_of_a_round(method, machines.n_workers)
    until = Until(jobs=draw(st.integers(least, max(max_jobs, least))))
    options = {"until": until, "seed": draw(st.integers(0, 3)), "payload": payload_for(machines)}
    try:
        if isinstance(method, NormBounded):
            problem = Quadratic(np.ones(sum(method.block_sizes())))
            start = problem.start()[None]
            return lock_step(method, machines, problem, SGD(0.25), start=start, **options)
        return simulate(method, machines, **options)
    except ValueError as refusal:
        # A protocol that must foresee how long something takes says so.
        if "must know how long" in str(refusal):
            reject()
        raise


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
