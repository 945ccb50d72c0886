"""The interface of a probe: it reads the executor's state and never changes it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from elastic_consistency.execution.probes.watch import Watch
from elastic_consistency.execution.trace import Trace
from elastic_consistency.optimization.oracles.base import AbstractOracle
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.schedule import Op, Schedule

if TYPE_CHECKING:
    from elastic_consistency.execution.executor import Executor


@final
@dataclass(frozen=True, slots=True)
class Context:
    """What an observer may look up before the first row.

    Attributes:
        schedule: The schedule about to be executed.
        oracle: The problem.
        rule: The update rule.
    """

    schedule: Schedule
    oracle: AbstractOracle
    rule: AbstractRule


@final
@dataclass(frozen=True, slots=True)
class Event:
    """The row that was just executed.

    Attributes:
        time: s.
        op: Operation.
        worker: Who acted, -1 for the server.
        job: Job, -1 where absent.
        message: Message, -1 where absent.
        replica: Replica, -1 where absent.
        staleness: Steps, for ADD rows; else 0.
    """

    time: float
    op: int
    worker: int
    job: int
    message: int
    replica: int
    staleness: int


class AbstractObserver(ABC):
    """A probe at work in one execution; it holds what it has seen so far."""

    @abstractmethod
    def open(self, executor: "Executor") -> None:
        """Look at the executor before the first row."""

    @abstractmethod
    def observe(self, event: Event, executor: "Executor") -> None:
        """Look at the executor right after a watched row."""

    @abstractmethod
    def traces(self) -> tuple[Trace, ...]:
        """What was measured."""

    def watch(self) -> Watch | None:
        """The same work without a call per row; None if it needs to see every row."""
        return None


class AbstractProbe(ABC):
    """A frozen description of what to measure; it can be used in many executions."""

    @property
    @abstractmethod
    def watches(self) -> frozenset[Op]:
        """Operations after which the observer looks."""

    @property
    @abstractmethod
    def needs_view(self) -> bool:
        """Whether views must live until their job is dropped."""

    @abstractmethod
    def start(self, context: Context) -> AbstractObserver:
        """An observer for one execution."""
