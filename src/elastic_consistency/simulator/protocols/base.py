"""What every protocol must do."""

from abc import ABC, abstractmethod
from typing import ClassVar

from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.simulation import Simulation


class AbstractProtocol(ABC):
    """Who meets whom, when and with which weight; no arrays and no step size.

    Attributes:
        asks: Its timing depends on gradients, so that it runs by `lock_step`, beside an execution.
    """

    __slots__ = ()
    asks: ClassVar[bool] = False

    @abstractmethod
    def hosts(self, cluster: Cluster) -> tuple[int, ...]:
        """Host of each replica: a worker, or -1 for the server."""

    @abstractmethod
    def start(self, simulation: Simulation) -> None:
        """Do what happens at time 0 and set the alarms; the clock is run by the engine."""

    @abstractmethod
    def restate(self, schedule: Schedule) -> None:
        """Check that a schedule of this protocol is one, in the protocol's own words.

        Raises:
            ScheduleError: If it is not; names the rule and, if there is one, the row.
        """


class AbstractBlockProtocol(AbstractProtocol):
    """A protocol that reads or applies the model block by block."""

    __slots__ = ()

    @abstractmethod
    def block_sizes(self) -> tuple[int, ...]:
        """Parameters in each block, at least two blocks."""


class AbstractUnreliableProtocol(AbstractProtocol):
    """A protocol that knows what to do when workers crash, restart or join late.

    Its `start` minds the lifetimes of the workers, and its `restate` the rows of crashes.
    """

    __slots__ = ()

    @abstractmethod
    def restate_with_faults(self, schedule: Schedule) -> None:
        """What remains true when workers come and go; `restate` calls it when they do."""
