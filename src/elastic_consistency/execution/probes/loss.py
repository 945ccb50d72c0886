"""Loss of one replica over time, and the time at which it first reaches a target."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.execution.probes.base import (
    AbstractObserver,
    AbstractProbe,
    Context,
)
from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.schedule import Op


@final
@dataclass(frozen=True, slots=True)
class Loss(AbstractProbe):
    """f(x) of a replica after every `every`-th of its changes.

    Attributes:
        replica: Which replica.
        every: Changes (STEP or MIX rows of the replica) from one look to the next, >= 1.
        target: Loss to be reached; None when only the curve is wanted.
    """

    replica: int = 0
    every: int = 1
    target: float | None = None

    def __post_init__(self) -> None:
        check(self.every >= 1, self, "every", "a number of changes >= 1")

    @property
    def watches(self):
        return frozenset((Op.STEP, Op.MIX))

    @property
    def needs_view(self):
        return False

    def start(self, context):
        return _LossObserver(self, context)


@final
class _LossObserver(AbstractObserver):
    def __init__(self, probe: Loss, context: Context) -> None:
        self._probe, self._oracle = probe, context.oracle
        self._curve = TraceWriter("loss", Quantity.LOSS, Sequence.NONE)
        self._reached: np.ndarray | None = None
        self._changes = self._last_look = 0

    def open(self, executor):
        self._look(0.0, executor)

    def observe(self, event, executor):
        if event.replica != self._probe.replica:
            return
        self._changes += 1
        if self._changes % self._probe.every == 0:
            self._look(event.time, executor)

    def watch(self):
        probe = self._probe
        return Watch(Moment.STEPPED, probe.every, self._evaluate, self._keep, replica=probe.replica)

    def _look(self, time, executor) -> None:
        self._keep(time, self._changes, self._evaluate(executor.model(self._probe.replica)))

    def _evaluate(self, x: Any) -> tuple[np.ndarray, ...]:
        return (np.asarray(self._oracle.loss(x)),)

    def _keep(self, time: float, position: int, values: tuple[np.ndarray, ...]) -> None:
        (loss,) = values
        self._curve.add(time, position, loss)
        self._last_look = position
        if self._probe.target is None:
            return
        if self._reached is None:
            self._reached = np.full(loss.shape, np.inf)
        now = (loss <= self._probe.target) & np.isinf(self._reached)
        self._reached[now] = time

    def traces(self):
        if self._reached is None:
            return (self._curve.finish(),)
        reached = TraceWriter("time_to_target_s", Quantity.TIME, Sequence.NONE)
        reached.add(0.0, self._last_look, self._reached)
        return (self._curve.finish(), reached.finish())
