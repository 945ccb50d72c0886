"""The simulator's counterpart of a recorded live run: its protocol on a cluster that was fitted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Graph, Link, Worker
from elastic_consistency.simulator.network.collectives import Ring
from elastic_consistency.simulator.protocols import (
    AllReduce,
    PairwiseAveraging,
    QueuedServer,
    SharedMemory,
)
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.studies.held_out.laws import FittedLaw, fit_phase
from elastic_consistency.studies.held_out.phases import phases_of


@final
@dataclass(frozen=True, slots=True)
class Counterpart:
    """What is simulated instead of running it.

    Attributes:
        protocol: The simulator's protocol.
        cluster: Workers and links with the fitted laws.
        laws: Every fitted law, and how well it fits.
    """

    protocol: AbstractProtocol
    cluster: Cluster
    laws: tuple[FittedLaw, ...]


def counterpart_of(schedule: Schedule, protocol: str) -> Counterpart:
    """Protocol and cluster that were fitted to a recorded schedule.

    Args:
        schedule: As `elastic live` records it.
        protocol: "server", "all-reduce", "pairwise" or "hogwild".

    Raises:
        ValueError: If the simulator has no such protocol for so many workers or blocks.
    """
    phases = phases_of(schedule, protocol)
    compute = [fit_phase(f"compute of worker {w}", s) for w, s in enumerate(phases.compute)]
    shared = {name: fit_phase(name, seconds) for name, seconds in phases.shared.items()}
    made, cluster = _MADE[protocol](schedule, compute, shared)
    return Counterpart(made, cluster, (*compute, *shared.values()))


_Made = tuple[AbstractProtocol, Cluster]


def _server(_schedule: Schedule, compute: list[FittedLaw], shared: dict[str, FittedLaw]) -> _Made:
    up, down = Link(jitter=shared["push"].law), Link(jitter=shared["pull"].law)
    workers = tuple(Worker(own.law, uplink=up, downlink=down) for own in compute)
    return QueuedServer(shared["service"].law), Cluster(workers)


def _all_reduce(_schedule: Schedule, compute: list[FittedLaw], shared: dict[str, Any]) -> _Made:
    # A ring of p workers has 2 (p - 1) steps, whose latencies must add up to the mean.
    steps = max(1, 2 * (len(compute) - 1))
    step = Link(latency_s=shared["collective"].mean_s / steps)
    return AllReduce(Ring()), Cluster(tuple(Worker(own.law) for own in compute), fabric=step)


def _pairwise(_schedule: Schedule, compute: list[FittedLaw], shared: dict[str, Any]) -> _Made:
    n = len(compute)
    # Every even worker asks any odd one.
    neighbours = tuple(tuple(range(1 - w % 2, n, 2)) for w in range(n))
    half = Link(latency_s=shared["exchange"].mean_s / 2)
    cluster = Cluster(tuple(Worker(own.law) for own in compute), fabric=half)
    return PairwiseAveraging(Graph(neighbours), bipartite=True), cluster


def _hogwild(schedule: Schedule, compute: list[FittedLaw], shared: dict[str, FittedLaw]) -> _Made:
    sizes = schedule.metadata.block_sizes
    made = SharedMemory(sizes, shared["read"].law, shared["write"].law)
    return made, Cluster(tuple(Worker(own.law) for own in compute))


_MADE: dict[str, Callable[[Schedule, list[FittedLaw], dict[str, FittedLaw]], _Made]] = {
    "server": _server,
    "all-reduce": _all_reduce,
    "pairwise": _pairwise,
    "hogwild": _hogwild,
}
