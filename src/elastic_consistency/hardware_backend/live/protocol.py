"""The interface of a live protocol: what every rank does, with nobody to tell it when."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule

if TYPE_CHECKING:
    from elastic_consistency.hardware_backend.live.actor import Actor


class AbstractLiveProtocol(ABC):
    """A protocol at work on real processes; a frozen dataclass of its parameters."""

    @abstractmethod
    def hosts(self, n_workers: int) -> tuple[int, ...]:
        """Host of each replica."""

    @abstractmethod
    def n_ranks(self, n_workers: int) -> int:
        """Processes that it needs."""

    @abstractmethod
    def worker_of(self, rank: int) -> int:
        """Worker that a rank plays, -1 for the server."""

    @abstractmethod
    def act(self, actor: "Actor") -> None:
        """What the rank of `actor` does from the first job to the last."""

    @property
    def weighs_staleness(self) -> bool:
        """Whether the staleness of an update is known when it is added."""
        return False


@final
@dataclass(frozen=True, slots=True, eq=False)
class LiveOrder:
    """What all ranks of a live run are told.

    Attributes:
        protocol: Who does what.
        oracle: The problem.
        rule: The update rule.
        codec: Compression of updates, None for none.
        n_workers: Number of workers.
        jobs: Gradients of each worker (of all workers together at a server).
        seed: Seed of samples, pauses and peers.
        pauses: Mean seconds that each worker adds to each gradient; () for none.
        block_sizes: Parameters in each block; () for one block.
        skews: Seconds that each rank's clock is wrong on purpose; () for none.
        folder: Where each rank writes down what it does as it does it; "" for nowhere.
        shared: What the ranks share on one machine, None for nothing.
    """

    protocol: AbstractLiveProtocol
    oracle: AbstractOracle
    rule: AbstractRule
    codec: AbstractCodec | None
    n_workers: int
    jobs: int
    seed: int
    pauses: tuple[float, ...]
    block_sizes: tuple[int, ...]
    skews: tuple[float, ...]
    folder: str = ""
    shared: Any = None

    def start(self) -> np.ndarray:
        """(1, d) float64 first model."""
        return np.asarray(self.oracle.start(), np.float64)[None]
