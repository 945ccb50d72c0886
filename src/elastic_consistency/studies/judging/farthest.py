"""How far a model strayed: the proof that constants on a ball applied to the run."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency.execution.probes.base import AbstractObserver, AbstractProbe
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.optimization.arrays import like, squared_norms
from elastic_consistency.schedule import Op


@final
@dataclass(frozen=True, slots=True)
class FarthestModel(AbstractProbe):
    """Largest ||x - x*||^2 of any replica after any of its changes, one value a replicate.

    Views are read from replicas, so no view was farther away.
    """

    @property
    def watches(self):
        return frozenset((Op.STEP, Op.MIX))

    @property
    def needs_view(self):
        return False

    def start(self, context):
        return _FarthestObserver(context.oracle.minimiser())


@final
class _FarthestObserver(AbstractObserver):
    def __init__(self, minimiser: Any) -> None:
        self._minimiser = minimiser
        self._farthest: np.ndarray | float = 0.0

    def open(self, executor):
        self._look(executor.model(0))

    def observe(self, event, executor):
        self._look(executor.model(event.replica))

    def _look(self, x) -> None:
        distance = np.asarray(squared_norms(x - like(x, self._minimiser)))
        self._farthest = np.maximum(self._farthest, distance)

    def traces(self):
        writer = TraceWriter("farthest_squared_distance", Quantity.SQUARED_DISTANCE, Sequence.NONE)
        writer.add(0.0, 0, self._farthest)
        return (writer.finish(),)
