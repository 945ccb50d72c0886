"""The applied sequence: the server's model at the moment at which an update enters it."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.execution.probes.base import AbstractObserver, AbstractProbe, Context
from elastic_consistency.execution.probes.sequence_traces import SequenceTraces
from elastic_consistency.execution.probes.watch import Moment
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.schedule import SERVER, Op


@final
@dataclass(frozen=True, slots=True)
class AppliedSequence(AbstractProbe):
    """x_t = the server's model before STEP t, beside the view of each job that t applies.

    It exists only where there is a server.

    Attributes:
        every: Updates from one evaluation of the problem to the next, >= 1.

    Source: Nadiradze et al. (2021), arXiv:2001.05918 (single step).
    """

    every: int = 1

    def __post_init__(self) -> None:
        check(self.every >= 1, self, "every", "a number of updates >= 1")

    @property
    def watches(self):
        return frozenset((Op.ADD,))

    @property
    def needs_view(self):
        return True

    def start(self, context):
        return _AppliedObserver(self.every, context)


@final
class _AppliedObserver(AbstractObserver):
    def __init__(self, every: int, context: Context) -> None:
        step_size = context.rule.auxiliary_step_size
        self._traces = SequenceTraces(Sequence.APPLIED, context.oracle, step_size, every)
        self._hosts = context.schedule.metadata.hosts
        self._contents = _contents(context)
        rows = context.schedule.rows
        adds = rows.op == Op.ADD
        self._recipients = np.unique(rows.replica[adds]).tolist()
        # A program knows the view of one job for each addition, and no model that is divided.
        self._is_simple = not ((rows.job < 0) & adds).any() and not (rows.op == Op.MIX).any()

    def open(self, executor):
        pass

    def observe(self, event, executor):
        if self._hosts[event.replica] != SERVER:
            return
        jobs = (event.job,) if event.job >= 0 else self._contents[event.message]
        x = executor.model(event.replica)
        for job in jobs:
            self._traces.add(event.time, job, x, executor.view(job))

    def watch(self):
        hosts = {self._hosts[r] for r in self._recipients}
        by_program = self._is_simple and hosts <= {SERVER}
        return self._traces.watch(Moment.ADDED) if by_program else None

    def traces(self):
        return self._traces.finish()


def _contents(context: Context) -> dict[int, list[int]]:
    """Jobs that each message carries."""
    rows = context.schedule.rows
    carried = (rows.op == Op.PUT) & (rows.job >= 0)
    contents: dict[int, list[int]] = {}
    for message, job in zip(
        rows.message[carried].tolist(), rows.job[carried].tolist(), strict=True
    ):
        contents.setdefault(message, []).append(job)
    return contents
