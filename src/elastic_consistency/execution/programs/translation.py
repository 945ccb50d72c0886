"""The translation of a schedule into a program, by whole columns."""

from typing import final

import numpy as np

from elastic_consistency.execution.programs.program import Do, Program
from elastic_consistency.execution.programs.slots import assign_slots
from elastic_consistency.execution.programs.versions import Versions
from elastic_consistency.schedule import ABSENT, Op, Schedule


def can_translate(schedule: Schedule) -> bool:
    """Whether a program can express the schedule.

    It has one block and no messages, every job is read once and before it is used, and every
    STEP takes something and leaves nothing behind.
    """
    table = schedule.rows
    if schedule.metadata.n_blocks > 1 or len(schedule.messages):
        return False
    if (table.op == Op.CRASH).any():
        return False
    reads = np.flatnonzero(table.op == Op.READ)
    read_row = np.full(len(schedule.jobs) + 1, len(table))
    read_row[table.job[reads]] = reads
    read_once = np.count_nonzero(read_row < len(table)) == len(reads)
    adds = np.flatnonzero(table.op == Op.ADD)
    read_first = (table.job[adds] != ABSENT) & (read_row[table.job[adds]] < adds)
    versions = Versions(schedule)
    step = versions.next_step(table.replica[adds], adds)
    taken = np.bincount(step, minlength=versions.count + 1)
    complete = bool((taken[:-1] > 0).all()) and taken[-1] == 0
    return bool(read_once and read_first.all() and complete)


def translate(
    schedule: Schedule,
    factor: np.ndarray,
    *,
    eager: bool,
    looks_at_adds: bool,
    compiled: bool = False,
) -> Program:
    """The program of a schedule for which `can_translate` holds.

    Args:
        schedule: The schedule.
        factor: (K,) weight times the rule's scale of each ADD row, in order.
        eager: Compute gradients at their GRADIENT row and keep them until they are used; else
            compute each where it is used, and keep its view instead.
        looks_at_adds: Somebody compares view and model when an update is added.
        compiled: Whether the one loop of the translation is compiled.
    """
    translation = _Translation(schedule, eager=eager, looks_at_adds=looks_at_adds)
    return translation.program(factor, compiled=compiled)


@final
class _Translation:
    """Values are numbered: versions of models, then gradients, then buffers."""

    def __init__(self, schedule: Schedule, *, eager: bool, looks_at_adds: bool) -> None:
        self._schedule, self._table = schedule, schedule.rows
        self._eager, self._looks_at_adds = eager, looks_at_adds
        self._versions = Versions(schedule)
        self._adds = np.flatnonzero(self._table.op == Op.ADD)
        self._gradients = np.flatnonzero((self._table.op == Op.GRADIENT) & eager)
        self._step_of_add = self._versions.next_step(self._table.replica[self._adds], self._adds)
        self._do, self._row = self._instructions()

    def _instructions(self) -> tuple[np.ndarray, np.ndarray]:
        """Operation and row of each instruction."""
        steps, step = self._versions.rows, self._step_of_add
        by_row = np.full(len(self._table), -1, np.int8)
        first = np.full(len(steps), len(self._table))
        first[step[::-1]] = self._adds[::-1]
        alone = np.bincount(step, minlength=len(steps)) == 1
        fused = alone & (first == steps - 1)
        by_row[self._gradients] = Do.GRADIENT
        by_row[self._adds] = np.where(first[step] == self._adds, Do.FIRST, Do.MORE)
        by_row[steps] = np.where(fused, Do.APPLY, Do.STEP)
        by_row[steps[fused] - 1] = -1
        rows = np.flatnonzero(by_row >= 0)
        return by_row[rows], rows

    def program(self, factor: np.ndarray, *, compiled: bool) -> Program:
        do, row, table = self._do, self._row, self._table
        source = row - (do == Do.APPLY)
        job = table.job[source]
        factors = np.zeros(len(table))
        factors[self._adds] = factor
        replica = table.replica[row]
        model = np.where(do == Do.GRADIENT, ABSENT, self._versions.current(replica, row))
        values = [self._views(job), *self._gradients_and_buffers(source, job), model]
        values.append(self._targets(values[1], values[2]))
        slots, n_slots, final = self._allocate(values, compiled=compiled)
        view, gradient, buffer, model, target = (slots[value] for value in values)
        return Program(
            do=do,
            row=row,
            job=job,
            worker=np.append(self._schedule.jobs.worker, ABSENT)[job],
            replica=replica,
            factor=factors[source],
            view=view,
            gradient=gradient,
            model=model,
            buffer=buffer,
            target=target,
            n_slots=n_slots,
            final=final,
            eager=self._eager,
        )

    def _views(self, job: np.ndarray) -> np.ndarray:
        table = self._table
        reads = np.flatnonzero(table.op == Op.READ)
        version = np.full(len(self._schedule.jobs) + 1, ABSENT)
        version[table.job[reads]] = self._versions.current(table.replica[reads], reads)
        return version[job]

    def _gradients_and_buffers(
        self, source: np.ndarray, job: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        first = self._versions.count + 1
        gradient = np.full(len(self._schedule.jobs) + 1, ABSENT)
        gradient[self._table.job[self._gradients]] = first + np.arange(len(self._gradients))
        first += len(self._gradients)
        buffered = np.zeros(self._versions.count, bool)
        unfused = np.flatnonzero(np.isin(self._do, (Do.FIRST, Do.STEP)))
        step = self._versions.next_step(self._table.replica[source], source)
        buffered[step[unfused]] = True
        number = np.where(buffered, first + np.cumsum(buffered) - 1, ABSENT)
        used = np.isin(self._do, (Do.FIRST, Do.MORE, Do.STEP))
        return gradient[job], np.where(used, np.append(number, ABSENT)[step], ABSENT)

    def _targets(self, gradient: np.ndarray, buffer: np.ndarray) -> np.ndarray:
        made = np.isin(self._do, (Do.STEP, Do.APPLY))
        target = np.where(self._do == Do.GRADIENT, gradient, buffer)
        target[made] = 1 + np.arange(self._versions.count)
        return target

    def _allocate(
        self, values: list[np.ndarray], *, compiled: bool
    ) -> tuple[np.ndarray, int, tuple[int, ...]]:
        """Slot of every value (the last entry is for none), their number, and the final ones."""
        view, gradient, buffer, model, target = values
        do, last = self._do, self._versions.last()
        adding = np.isin(do, (Do.FIRST, Do.MORE, Do.APPLY))
        looking = adding & self._looks_at_adds
        uses = (
            (view, (do == Do.GRADIENT) | looking | (adding & (not self._eager))),
            (gradient, adding & self._eager),
            (buffer, np.isin(do, (Do.MORE, Do.STEP))),
            (model, looking | np.isin(do, (Do.STEP, Do.APPLY))),
        )
        n_values = 1 + max(0, int(target.max(initial=0)))
        when = np.arange(len(do))
        birth = np.full(n_values, -1)
        birth[target[::-1]] = when[::-1]
        death = birth.copy()
        for value, used in uses:
            latest = np.full(n_values, -1)
            latest[value[used]] = when[used]
            np.maximum(death, latest, out=death)
        death[list(last)] = len(do)
        order = np.argsort(birth, kind="stable")
        slots = np.full(n_values + 1, -1)
        slots[order], n_slots = assign_slots(birth[order], death[order], compiled=compiled)
        return slots, n_slots, tuple(slots[list(last)].tolist())
