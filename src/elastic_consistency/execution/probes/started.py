"""The started sequence: x_0 minus the updates of all jobs that were read earlier."""

from dataclasses import dataclass
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.execution.probes.auxiliary_weights import auxiliary_weights
from elastic_consistency.execution.probes.base import AbstractObserver, AbstractProbe, Context
from elastic_consistency.execution.probes.sequence_traces import SequenceTraces
from elastic_consistency.execution.probes.watch import Moment
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.schedule import Op


@final
@dataclass(frozen=True, slots=True)
class StartedSequence(AbstractProbe):
    """x_k = x_0 - sum over jobs j read before k of w_j G_j, beside the view of job k.

    Views of discarded jobs do not count: nobody uses a gradient taken there.

    Attributes:
        every: Jobs from one evaluation of the problem to the next, >= 1.

    Source: Mishchenko, Bach, Even, Woodworth (2022), arXiv:2206.07638 (virtual iterates).
    """

    every: int = 1

    def __post_init__(self) -> None:
        check(self.every >= 1, self, "every", "a number of jobs >= 1")

    @property
    def watches(self):
        return frozenset((Op.GRADIENT,))

    @property
    def needs_view(self):
        return True

    def start(self, context):
        return _StartedObserver(self.every, context)


@final
class _StartedObserver(AbstractObserver):
    def __init__(self, every: int, context: Context) -> None:
        step_size = context.rule.auxiliary_step_size
        self._traces = SequenceTraces(Sequence.STARTED, context.oracle, step_size, every)
        self._weights = auxiliary_weights(context.schedule, context.rule)
        self._discarded = context.schedule.jobs.share == 0

    def open(self, executor):
        self._x = executor.model(0)

    def observe(self, event, executor):
        if self._discarded[event.job]:
            return
        self._traces.add(event.time, event.job, self._x, executor.view(event.job))
        weight = float(self._weights[event.job])
        self._x = self._x - weight * executor.gradient_of(event.job)

    def watch(self):
        if self._discarded.any():
            return None
        return self._traces.watch(Moment.STARTED, weights=self._weights)

    def traces(self):
        return self._traces.finish()
