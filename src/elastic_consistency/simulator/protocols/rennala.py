"""Rennala SGD: a batch at one model, from whoever is fast."""

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
class Rennala(AbstractUnreliableProtocol):
    """The server averages `batch` gradients at its present model, however few workers sent them.

    Nobody waits: a worker whose update is in computes another one at the same model. What was
    computed at an older model is discarded as it arrives.

    Attributes:
        batch: S, gradients a step, >= 1.

    Source: Tyurin, Richtarik (2023), arXiv:2305.12387, Algorithm 2.
    """

    batch: int

    def __post_init__(self) -> None:
        check(self.batch >= 1, self, "batch", "a number of gradients >= 1")

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        ArrivalBatches(simulation, self.batch, again=True, interrupt=False).begin()

    def restate(self, schedule):
        require_batches(schedule, self.batch, "Rennala")
        require_discards_when_late(schedule, "Rennala")

    def restate_with_faults(self, schedule):
        self.restate(schedule)
