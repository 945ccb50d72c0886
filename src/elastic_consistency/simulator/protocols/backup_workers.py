"""Synchronous training with backup workers: the first k of n are enough."""

from dataclasses import dataclass
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.schedule import SERVER
from elastic_consistency.simulator.protocols.arrival_batches import (
    ArrivalBatches,
    require_batches,
    require_discards_when_late,
)
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol


@final
@dataclass(frozen=True, slots=True)
class BackupWorkers(AbstractUnreliableProtocol):
    """The server averages the first `needed` updates of a round and steps; the rest is dropped.

    A worker whose update is in waits for the step. A late worker finishes its computation, is
    told so, and reads the present model; with `interrupt` the step stops it instead. Needing
    all n workers is plain synchronous training.

    Attributes:
        needed: k, updates a round, from 1 to the number of workers.
        interrupt: Whether a step stops the computations that it does not wait for.

    Source: Chen, Pan, Monga, Bengio, Jozefowicz (2016), arXiv:1604.00981.
    """

    needed: int
    interrupt: bool = False

    def __post_init__(self) -> None:
        check(self.needed >= 1, self, "needed", "a number of updates >= 1")

    def hosts(self, cluster):
        allowed = f"at most the {cluster.n_workers} workers of the cluster"
        check(self.needed <= cluster.n_workers, self, "needed", allowed)
        return (SERVER,)

    def start(self, simulation):
        batches = ArrivalBatches(simulation, self.needed, again=False, interrupt=self.interrupt)
        batches.begin()

    def restate(self, schedule):
        require_batches(schedule, self.needed, "backup workers")
        require_discards_when_late(schedule, "backup workers")

    def restate_with_faults(self, schedule):
        self.restate(schedule)
