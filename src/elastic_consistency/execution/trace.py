"""What one probe measured over time, one column a replicate."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency.execution.quantities import Quantity, Sequence


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One measured figure over time; P observations kept, R replicates.

    Attributes:
        name: Name of the figure, with the unit where there is one.
        quantity: What it measures.
        sequence: The auxiliary sequence it refers to.
        time: (P,) float64, s.
        position: (P,) int64, number of the job or of the step observed.
        values: (P, R) float64.
        mean: (R,) mean over all observations, kept or not.
        last: (R,) last observation.
        peak: Largest root mean square over replicates at one time, over all observations.
        count: Number of observations.
    """

    name: str
    quantity: Quantity
    sequence: Sequence
    time: np.ndarray
    position: np.ndarray
    values: np.ndarray
    mean: np.ndarray
    last: np.ndarray
    peak: float
    count: int


@final
class TraceWriter:
    """Accumulates one trace in bounded memory.

    Args:
        name: Name of the figure.
        quantity: What it measures.
        sequence: The auxiliary sequence it refers to.
        keep: Observations kept, evenly spread; when there are twice as many, every second one
            is let go.
    """

    def __init__(
        self, name: str, quantity: Quantity, sequence: Sequence, *, keep: int = 512
    ) -> None:
        self._label = (name, quantity, sequence)
        self._keep = keep
        self._stride = 1
        self._kept: list[tuple[float, int, np.ndarray]] = []
        self._sum: np.ndarray | float = 0.0
        self._last = np.zeros(0)
        self._peak = 0.0
        self.count = 0

    def add(self, time: float, position: int, values: Any) -> None:
        """Record (R,) `values` at `time`."""
        row = np.asarray(values, np.float64)
        self._sum = self._sum + row
        self._last = row
        self._peak = max(self._peak, float(np.sqrt(np.add.reduce(row * row) / row.size)))
        if self.count % self._stride == 0:
            self._kept.append((time, position, row))
            self._thin()
        self.count += 1

    def add_many(self, time: np.ndarray, position: np.ndarray, values: np.ndarray) -> None:
        """Record (K, R) `values` at (K,) times; the same as one after the other."""
        if not len(values):
            return
        # accumulate adds in order, whatever K is; sum would add in pairs.
        before = np.broadcast_to(self._sum, values.shape[1:])[None]
        self._sum = np.add.accumulate(np.concatenate([before, values]))[-1]
        squares = np.fmax.reduce(np.add.reduce(values * values, axis=-1))
        self._peak = max(self._peak, float(np.sqrt(squares / values.shape[1])))
        self._last = values[-1].copy()
        self._keep_some(time, position, values)
        self.count += len(values)

    def _keep_some(self, time: np.ndarray, position: np.ndarray, values: np.ndarray) -> None:
        first = -self.count % self._stride
        while first < len(values):
            room = 2 * self._keep - len(self._kept)
            part = slice(first, first + room * self._stride, self._stride)
            rows = list(values[part].copy())
            self._kept += zip(time[part].tolist(), position[part].tolist(), rows, strict=True)
            first += len(rows) * self._stride
            self._thin()  # what comes next is a multiple of the doubled stride, too

    def _thin(self) -> None:
        if len(self._kept) == 2 * self._keep:
            self._kept = self._kept[::2]
            self._stride *= 2

    def finish(self) -> Trace:
        """The trace so far."""
        time, position, values = zip(*self._kept, strict=True) if self._kept else ((), (), ())
        return Trace(
            *self._label,
            np.array(time, np.float64),
            np.array(position, np.int64),
            np.array(values, np.float64),
            np.asarray(self._sum) / max(1, self.count),
            self._last,
            self._peak,
            self.count,
        )
