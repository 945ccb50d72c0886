"""The engine: runs a protocol on a cluster and returns its schedule."""

from collections.abc import Callable
from math import inf

import numpy as np

from elastic_consistency.schedule import Metadata, Schedule
from elastic_consistency.simulator.answers import AbstractAnswers
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.inert import inert_parts
from elastic_consistency.simulator.payload import Payload
from elastic_consistency.simulator.protocols.base import (
    AbstractBlockProtocol,
    AbstractProtocol,
    AbstractUnreliableProtocol,
)
from elastic_consistency.simulator.provenance import provenance_of
from elastic_consistency.simulator.remarks import with_remarks
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import StallError, Wait
from elastic_consistency.simulator.until import Until


def simulate(
    protocol: AbstractProtocol,
    cluster: Cluster,
    *,
    until: Until,
    seed: int,
    payload: Payload | None = None,
    answers: Callable[[Metadata], AbstractAnswers] | None = None,
) -> Schedule:
    """The schedule of `protocol` on `cluster`.

    `schedule.metadata.provenance` holds the arguments and, under "inert", the names of parts of
    the cluster that this protocol does not use although they were set.

    The same arguments give the same schedule on every run: events at equal times happen in the
    order in which they were set. Machines whose logarithms and exponentials differ in the last
    bit draw delays that do; Constant and Empirical delays are the same everywhere.

    Args:
        protocol: Who meets whom, when and with which weight.
        cluster: The machines.
        until: The limit.
        seed: Seed of everything random, >= 0.
        payload: Bytes that travel; needed as soon as a link has a finite bandwidth.
        answers: Makes whoever knows the values, for protocols that ask; see lock_step.

    Raises:
        StallError: If everybody waits before the limit is reached.
        ValueError: If an argument would have no effect, or the run would have no end.
    """
    payload = payload or Payload()
    _check_arguments(cluster, until, payload)
    _check_members(protocol, cluster)
    if isinstance(protocol, AbstractBlockProtocol) and not until.drain:
        raise ValueError(
            "Until.drain must be True for a protocol with blocks, got False: the limit would cut "
            "reads and updates in the middle."
        )
    parts = {"protocol": protocol, "cluster": cluster, "until": until, "payload": payload}
    metadata = Metadata(
        n_workers=cluster.n_workers,
        hosts=protocol.hosts(cluster),
        block_sizes=(protocol.block_sizes() if isinstance(protocol, AbstractBlockProtocol) else ()),
        seed=seed,
        provenance={name: provenance_of(part) for name, part in parts.items()},
    )
    simulation = Simulation(cluster, until, payload, metadata)
    simulation.answers = answers(metadata) if answers else None
    protocol.start(simulation)
    _run(simulation, until)
    metadata.provenance["inert"] = inert_parts(cluster, payload, simulation.used)
    schedule = with_remarks(simulation.finish(), cluster, simulation.suspensions)
    _check_end(simulation, schedule, until)
    return schedule


def _check_arguments(cluster: Cluster, until: Until, payload: Payload) -> None:
    if cluster.limits_bandwidth() and payload.model_bytes == payload.update_bytes == 0:
        raise ValueError(
            "A link has a finite bandwidth_bytes_per_s, which has no effect on messages of no "
            "size: give simulate(..., payload=Payload.uncompressed(model_bytes))."
        )
    if until.jobs is None and any(worker.mean_seconds() == 0 for worker in cluster.workers):
        raise ValueError(
            "Until.jobs must be given when a worker computes in no time, got None: the clock "
            "would never reach Until.time_s."
        )


def _check_members(protocol: AbstractProtocol, cluster: Cluster) -> None:
    if cluster.faults.moves_workers and not isinstance(protocol, AbstractUnreliableProtocol):
        raise ValueError(
            f"{type(protocol).__name__} knows neither crashes nor late starts; give it a cluster "
            "without them in Cluster.faults, or use a protocol that does."
        )


def _run(simulation: Simulation, until: Until) -> None:
    env = simulation.env
    if until.drain:
        simulation.drain()
        return
    while not simulation.refused and env.peek() < until.time_s:
        env.step()
    simulation.refused |= until.time_s <= env.peek() < inf


def _check_end(simulation: Simulation, schedule: Schedule, until: Until) -> None:
    waits = tuple(simulation.waits.values())
    if simulation.n_jobs == 0 and simulation.refused:
        raise ValueError(f"Until.jobs must be large enough for one round, got {until.jobs!r}.")
    if not simulation.refused:
        raise StallError(simulation.env.now, waits)
    unfinished = np.flatnonzero(np.isnan(schedule.jobs.share))
    if until.drain and len(unfinished):
        workers = dict.fromkeys(int(w) for w in schedule.jobs.worker[unfinished])
        lost = (simulation.waits.get(w) or Wait(w, (), "its job never ended") for w in workers)
        raise StallError(simulation.env.now, tuple(lost))
