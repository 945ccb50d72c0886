"""One rank's part of a live run."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from elastic_consistency.hardware_backend.live.actor import Actor
from elastic_consistency.hardware_backend.live.clock import Clock
from elastic_consistency.hardware_backend.live.log import Log
from elastic_consistency.hardware_backend.live.protocol import LiveOrder
from elastic_consistency.hardware_backend.live.record import open_record
from elastic_consistency.hardware_backend.processes.rank_process import Rank


@final
@dataclass(frozen=True, slots=True, eq=False)
class LivePart:
    """What one rank returns.

    Attributes:
        log: What it did, in the time of rank 0.
        models: (1, d) float64 final model of each replica that it hosts, by number.
        masses: Of those replicas, by number.
    """

    log: Log
    models: dict[int, np.ndarray]
    masses: dict[int, float]


def live_rank(rank: Rank, order: LiveOrder) -> LivePart:
    """Do this rank's part, from the first comparison of clocks to the last one."""
    skew = order.skews[rank.number] if order.skews else 0.0
    clock = Clock(rank.number, rank.size, skew)
    clock.compare()
    with open_record(order.folder, rank.number, clock) as record:
        actor = Actor(rank, order, clock, record)
        # Whoever is ready first must not train while others still compare their clocks.
        rank.agree("begin", "reached")
        order.protocol.act(actor)
    rank.agree("end", "reached")
    clock.compare()
    return _part(actor)


def _part(actor: Actor) -> LivePart:
    clock, log, executor = actor.clock, actor.log, actor.executor
    log.error = clock.error()
    log.entries = [replace(entry, time=clock.aligned(entry.time)) for entry in log.entries]
    log.begins = {job: clock.aligned(time) for job, time in log.begins.items()}
    hosts = actor.order.protocol.hosts(actor.order.n_workers)
    hosted = [replica for replica, host in enumerate(hosts) if host == actor.worker]
    models = {replica: executor.model(replica).numpy().copy() for replica in hosted}
    return LivePart(log, models, {replica: executor.mass(replica) for replica in hosted})
