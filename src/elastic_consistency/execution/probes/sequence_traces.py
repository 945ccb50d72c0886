"""What the theorems speak of, measured at the points of an auxiliary sequence."""

from typing import Any, final

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.execution.trace import Trace, TraceWriter
from elastic_consistency.optimization.arrays import like, squared_norms
from elastic_consistency.optimization.oracles import AbstractOracle

Array = Any


@final
class SequenceTraces:
    """Gap, squared gradient, squared distance and suboptimality of one sequence.

    Args:
        sequence: Which sequence.
        oracle: The problem.
        step_size: Largest step size; the gap is ||x - v|| divided by it.
        every: Points from one evaluation of the problem to the next; the gap is measured at
            every point.
    """

    def __init__(
        self, sequence: Sequence, oracle: AbstractOracle, step_size: float, every: int
    ) -> None:
        self._oracle, self._step_size, self._every = oracle, step_size, every
        self._minimiser = oracle.minimiser()
        self._infimum = oracle.constants().infimum
        name = sequence.value
        self._gap = TraceWriter(f"gap_{name}", Quantity.GAP, sequence)
        writers = {Quantity.MEAN_SQUARED_GRADIENT: "squared_gradient"}
        if self._minimiser is not None:
            writers[Quantity.SQUARED_DISTANCE] = "squared_distance"
        if self._infimum is not None:
            writers[Quantity.SUBOPTIMALITY] = "suboptimality"
        self._at_point = {
            quantity: TraceWriter(f"{short}_{name}", quantity, sequence)
            for quantity, short in writers.items()
        }

    def add(self, time: float, position: int, x: Array, view: Array) -> None:
        """One point x of the sequence and the view v that belongs to it, both (R, d)."""
        gap = np.sqrt(_as_numpy(squared_norms(x - view))) / self._step_size
        self._gap.add(time, position, gap)
        if (self._gap.count - 1) % self._every == 0:
            self.look(time, position, x)

    def look(self, time: float, position: int, x: Array) -> None:
        """Evaluate the problem at (R, d) points."""
        self._keep(time, position, self._evaluate(x))

    def watch(self, moment: Moment, *, weights: np.ndarray | None = None) -> Watch:
        """The same measurements for a program; see Watch."""
        return Watch(
            moment, self._every, self._evaluate, self._keep, self._add_gaps, weights=weights
        )

    def _add_gaps(self, time: np.ndarray, position: np.ndarray, squares: np.ndarray) -> None:
        self._gap.add_many(time, position, np.sqrt(squares) / self._step_size)

    def _evaluate(self, x: Array) -> tuple[np.ndarray, ...]:
        return tuple(self._value(quantity, x) for quantity in self._at_point)

    def _keep(self, time: float, position: int, values: tuple[np.ndarray, ...]) -> None:
        for writer, value in zip(self._at_point.values(), values, strict=True):
            writer.add(time, position, value)

    def _value(self, quantity: Quantity, x: Array) -> np.ndarray:
        if quantity is Quantity.MEAN_SQUARED_GRADIENT:
            return _as_numpy(squared_norms(self._oracle.mean_gradient(x)))
        if quantity is Quantity.SQUARED_DISTANCE:
            return _as_numpy(squared_norms(x - like(x, self._minimiser)))
        return _as_numpy(self._oracle.loss(x)) - self._infimum

    def finish(self) -> tuple[Trace, ...]:
        """All traces of this sequence."""
        return (self._gap.finish(), *(w.finish() for w in self._at_point.values()))


def _as_numpy(values: Array) -> np.ndarray:
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values, np.float64)
