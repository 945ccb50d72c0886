"""The energies that gradient energy matching compares, at every commit to the server."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.execution.probes.base import AbstractObserver, AbstractProbe, Context
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.optimization.update_rules.gem_energy import central_energy, proxy_energy
from elastic_consistency.schedule import SERVER, Op

_ROUNDING = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Energies(AbstractProbe):
    """E_c of the central variable as a worker sees it, and E_p of momentum SGD.

    E_c = 1/2 (x - s)^2 with x the server's model after the commit and s the last pull before
    the one that preceded the commit; E_p = 1/2 m^2 with m <- momentum m - step size * gradient
    of the worker's own gradients. Both are summed over coordinates. The system is stable where
    E_c <= E_p; `share_above_proxy` is the share of coordinates where it is not.

    Attributes:
        momentum: mu of the proxy, in [0, 1).

    Source: Hermans, Louppe (2018), arXiv:1805.08469, equations 7 to 12.
    """

    momentum: float = 0.9

    def __post_init__(self) -> None:
        check(0 <= self.momentum < 1, self, "momentum", "a number in [0, 1)")

    @property
    def watches(self):
        return frozenset((Op.READ, Op.ENCODE, Op.ADD, Op.STEP))

    @property
    def needs_view(self):
        return False

    def start(self, context):
        return _EnergiesObserver(self, context)


@final
class _EnergiesObserver(AbstractObserver):
    def __init__(self, probe: Energies, context: Context) -> None:
        self._probe, self._step_size = probe, context.rule.auxiliary_step_size
        self._hosts = context.schedule.metadata.hosts
        self._worker_of = context.schedule.jobs.worker.tolist()
        self._pulls: dict[int, tuple[Any, Any]] = {}
        self._proxy: dict[int, Any] = {}
        self._committing = -1
        named = {"energy_central": Quantity.ENERGY, "energy_proxy": Quantity.ENERGY}
        named["share_above_proxy"] = Quantity.FRACTION
        self._writers = [TraceWriter(name, q, Sequence.NONE) for name, q in named.items()]

    def open(self, executor):
        self._start = executor.model(0)

    def observe(self, event, executor):
        if event.op == Op.ENCODE:
            self._proxy[event.worker] = self._next_momentum(event, executor)
        elif self._hosts[event.replica] != SERVER:
            return
        elif event.op == Op.READ:
            _, last = self._pulls.get(event.worker, (self._start, self._start))
            self._pulls[event.worker] = (last, executor.model(event.replica))
        elif event.op == Op.ADD:
            self._committing = event.job
        elif self._committing >= 0:
            self._look(event, executor)

    def _next_momentum(self, event, executor) -> Any:
        update = -self._step_size * executor.gradient_of(event.job)
        if event.worker not in self._proxy:
            return update
        return self._probe.momentum * self._proxy[event.worker] + update

    def _look(self, event, executor) -> None:
        worker = self._worker_of[self._committing]
        pulled, _ = self._pulls.get(worker, (self._start, self._start))
        central = np.asarray(central_energy(pulled, executor.model(event.replica)))
        proxy = np.asarray(proxy_energy(self._proxy[worker]))
        above = (central > proxy * (1 + _ROUNDING)).mean(axis=1)
        figures = (central.sum(axis=1), proxy.sum(axis=1), above)
        for writer, values in zip(self._writers, figures, strict=True):
            writer.add(event.time, self._committing, values)
        self._committing = -1

    def traces(self):
        return tuple(writer.finish() for writer in self._writers)
