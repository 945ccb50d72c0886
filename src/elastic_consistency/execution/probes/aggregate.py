"""The aggregate sequence: x_0 minus the updates of all earlier rounds."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, final

from elastic_consistency._checks import check
from elastic_consistency.execution.probes.auxiliary_weights import auxiliary_weights
from elastic_consistency.execution.probes.base import AbstractObserver, AbstractProbe, Context
from elastic_consistency.execution.probes.sequence_traces import SequenceTraces
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.schedule import Op


@final
@dataclass(frozen=True, slots=True)
class AggregateSequence(AbstractProbe):
    """x_t = x_0 - sum over jobs j of rounds before t of w_j G_j, beside each view of round t.

    A fast worker may be rounds ahead; its view waits until the earlier rounds are complete.
    Views of discarded jobs do not count.

    Attributes:
        every: Views from one evaluation of the problem to the next, >= 1.

    Source: Nadiradze et al. (2021), arXiv:2001.05918 (parallel step).
    """

    every: int = 1

    def __post_init__(self) -> None:
        check(self.every >= 1, self, "every", "a number of views >= 1")

    @property
    def watches(self):
        return frozenset((Op.GRADIENT,))

    @property
    def needs_view(self):
        return True

    def start(self, context):
        return _AggregateObserver(self.every, context)


@final
class _AggregateObserver(AbstractObserver):
    def __init__(self, every: int, context: Context) -> None:
        step_size = context.rule.auxiliary_step_size
        self._traces = SequenceTraces(Sequence.AGGREGATE, context.oracle, step_size, every)
        self._weights = auxiliary_weights(context.schedule, context.rule)
        jobs = context.schedule.jobs
        self._round = jobs.round.tolist()
        self._discarded = jobs.share == 0
        self._missing = Counter(jobs.round[~self._discarded].tolist())
        self._rounds = sorted(self._missing, reverse=True)
        self._sums: dict[int, Any] = {}
        self._waiting: dict[int, list[tuple[float, int, Any]]] = {}

    def open(self, executor):
        self._x = executor.model(0)

    def observe(self, event, executor):
        job, number = event.job, self._round[event.job]
        if self._discarded[job]:
            return
        self._waiting.setdefault(number, []).append((event.time, job, executor.view(job)))
        update = float(self._weights[job]) * executor.gradient_of(job)
        self._sums[number] = self._sums[number] + update if number in self._sums else update
        self._missing[number] -= 1
        self._advance()

    def _advance(self) -> None:
        while self._rounds:
            current = self._rounds[-1]
            for time, job, view in self._waiting.pop(current, ()):
                self._traces.add(time, job, self._x, view)
            if self._missing[current]:
                return
            self._x = self._x - self._sums.pop(current)
            self._rounds.pop()

    def traces(self):
        return self._traces.finish()
