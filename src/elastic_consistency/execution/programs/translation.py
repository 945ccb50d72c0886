"""The translation of a schedule into a program, by whole columns."""

from dataclasses import replace
from typing import Any, final
from weakref import WeakKeyDictionary

import numpy as np

from elastic_consistency.execution.programs.masses import Masses
from elastic_consistency.execution.programs.program import ADDS, STEPS, WRITES, Do, Program, among
from elastic_consistency.execution.programs.slots import assign_slots
from elastic_consistency.execution.programs.versions import Occurrences
from elastic_consistency.schedule import ABSENT, Op, Schedule

# What was found out about a schedule, so that a sweep over step sizes asks once.
_KNOWN: WeakKeyDictionary[Schedule, dict[Any, Any]] = WeakKeyDictionary()


def can_translate(schedule: Schedule) -> bool:
    """Whether a program can express the schedule.

    It has one block, every job is read once and before it is used, and every STEP takes
    something and leaves nothing behind.
    """
    known = _KNOWN.setdefault(schedule, {})
    if "possible" not in known:
        known["possible"] = _is_simple(schedule)
    return known["possible"]


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
        compiled: Whether the loops of the translation are compiled.
    """
    known, key = _KNOWN.setdefault(schedule, {}), (eager, looks_at_adds)
    if key not in known:
        translation = _Translation(schedule, eager=eager, compiled=compiled)
        known[key] = translation.program(looks_at_adds=looks_at_adds, compiled=compiled)
    program = known[key]
    factors = program.factor.copy()
    factors[among(program.do, ADDS)] = factor
    return replace(program, factor=factors)


def _is_simple(schedule: Schedule) -> bool:
    table = schedule.rows
    if schedule.metadata.n_blocks > 1:
        return False
    reads = np.flatnonzero(table.op == Op.READ)
    read_row = np.full(len(schedule.jobs), len(table))
    read_row[table.job[reads]] = reads
    read_once = np.count_nonzero(read_row < len(table)) == len(reads)
    used = np.flatnonzero(((table.op == Op.ADD) | (table.op == Op.PUT)) & (table.job != ABSENT))
    read_first = read_row[table.job[used]] < used
    adds, steps = np.flatnonzero(table.op == Op.ADD), _of(schedule, table.op == Op.STEP)
    taken = np.bincount(steps.after(table.replica[adds], adds), minlength=steps.count + 1)
    complete = bool((taken[:-1] > 0).all()) and taken[-1] == 0
    return bool(read_once and read_first.all() and complete)


def _of(schedule: Schedule, chosen: np.ndarray) -> Occurrences:
    rows = np.flatnonzero(chosen)
    return Occurrences(rows, schedule.rows.replica[rows], n_rows=len(schedule.rows))


@final
class _Translation:
    """Values are numbered: versions of models, gradients, buffers, messages, divided views."""

    def __init__(self, schedule: Schedule, *, eager: bool, compiled: bool) -> None:
        self._schedule, self._table, self._eager = schedule, schedule.rows, eager
        op = self._table.op
        self._keeps = np.flatnonzero((op == Op.PUT) & (self._table.keep >= 0))
        self._steps = self._writes = _of(schedule, op == Op.STEP)
        self._masses = None
        self._divided = self._keeps[:0]
        if len(schedule.messages):
            written = (op == Op.STEP) | (op == Op.MIX)
            written[self._keeps] = True
            self._writes = _of(schedule, written)
            self._weigh(compiled=compiled)
        self._adds = np.flatnonzero(op == Op.ADD)
        self._gradients = np.flatnonzero((op == Op.GRADIENT) & eager)
        self._step_of_add = self._steps.after(self._table.replica[self._adds], self._adds)
        self._do, self._row = self._instructions()
        self._used_row = self._row - (self._do == Do.APPLY)
        self._job = self._table.job[self._used_row]
        self._replica = self._table.replica[self._row]

    def _weigh(self, *, compiled: bool) -> None:
        masses = Masses(self._schedule, compiled=compiled)
        if not masses.all_one:
            reads = np.flatnonzero(self._table.op == Op.READ)
            self._masses = masses
            self._divided = reads[masses.before(self._table.replica[reads], reads) != 1.0]

    def _instructions(self) -> tuple[np.ndarray, np.ndarray]:
        """Operation and row of each instruction; a PUT that keeps something has two."""
        table, steps, step = self._table, self._steps.rows, self._step_of_add
        stride = 2 if len(self._keeps) else 1
        by_key = np.full(stride * len(table), -1, np.int8)
        by_row = by_key[::stride]
        first = np.full(len(steps), len(table))
        first[step[::-1]] = self._adds[::-1]
        alone = np.bincount(step, minlength=len(steps)) == 1
        fused = alone & (first == steps - 1)
        by_row[self._gradients] = Do.GRADIENT
        by_row[self._adds] = np.where(first[step] == self._adds, Do.FIRST, Do.MORE)
        by_row[steps] = np.where(fused, Do.APPLY, Do.STEP)
        by_row[steps[fused] - 1] = -1
        puts = np.flatnonzero(table.op == Op.PUT)
        opening = np.full(len(self._schedule.messages), -1)
        opening[table.message[puts[::-1]]] = puts[::-1]
        by_row[puts] = np.where(opening[table.message[puts]] == puts, Do.PUT, Do.PUT_MORE)
        by_key[stride * self._keeps + 1] = Do.KEEP
        by_row[table.op == Op.MIX] = Do.MIX
        by_row[self._divided] = Do.DIVIDE
        keys = np.flatnonzero(by_key >= 0)
        return by_key[keys], keys // stride

    def program(self, *, looks_at_adds: bool, compiled: bool) -> Program:
        do, row, table, job = self._do, self._row, self._table, self._job
        values = self._values()
        slots, n_slots, final = self._allocate(
            *values, looks_at_adds=looks_at_adds, compiled=compiled
        )
        view, source, model, buffer, target = (slots[value] for value in values)
        return Program(
            do=do,
            row=row,
            job=job,
            worker=np.append(self._schedule.jobs.worker, ABSENT)[job],
            replica=self._replica,
            factor=self._factors(),
            keep=table.keep[row],
            view=view,
            source=source,
            model=model,
            buffer=buffer,
            target=target,
            mass=self._mass_after(),
            n_slots=n_slots,
            final=final,
            eager=self._eager,
        )

    def _factors(self) -> np.ndarray:
        """Weight of each instruction that is no ADD; those of ADDs depend on the rule."""
        do, row = self._do, self._row
        factor = np.where(do == Do.KEEP, self._table.keep[row], self._table.weight[row])
        if self._masses:
            divides = do == Do.DIVIDE
            factor[divides] = self._masses.before(self._replica[divides], row[divides])
        return factor

    def _mass_after(self) -> np.ndarray | None:
        return self._masses.before(self._replica, self._row + 1) if self._masses else None

    def _values(self) -> tuple[np.ndarray, ...]:
        """View, source, model, buffer and target of each instruction."""
        do, job, n_jobs = self._do, self._job, len(self._schedule.jobs)
        n = 1 + self._writes.count
        gradient = np.full(n_jobs + 1, ABSENT)
        gradient[self._table.job[self._gradients]] = n + np.arange(len(self._gradients))
        n += len(self._gradients)
        buffer, buffered = self._buffers(n)
        n += buffered
        message = self._table.message[self._used_row]
        message = np.where(message == ABSENT, ABSENT, n + message)
        n += len(self._schedule.messages)
        view = self._views(n)
        current = self._writes.before(self._replica, self._row) + 1
        models = among(do, (*ADDS, Do.STEP, Do.MIX))
        of_message = among(do, (*ADDS, Do.MIX)) & (job == ABSENT)
        of_model = among(do, (Do.KEEP, Do.DIVIDE))
        of_model |= among(do, (Do.PUT, Do.PUT_MORE)) & (job == ABSENT)
        source = np.where(among(do, (Do.GRADIENT, Do.STEP)), ABSENT, gradient[job])
        source[of_message], source[of_model] = message[of_message], current[of_model]
        target = np.where(among(do, (Do.PUT, Do.PUT_MORE)), message, buffer)
        target[do == Do.GRADIENT] = gradient[job[do == Do.GRADIENT]]
        target[do == Do.DIVIDE] = view[job[do == Do.DIVIDE]]
        target[among(do, WRITES)] = 1 + np.arange(self._writes.count)
        return view[job], source, np.where(models, current, ABSENT), buffer, target

    def _views(self, first_divided: int) -> np.ndarray:
        """(J + 1,) what each job read; the last entry is for no job."""
        reads = np.flatnonzero(self._table.op == Op.READ)
        view = np.full(len(self._schedule.jobs) + 1, ABSENT)
        view[self._table.job[reads]] = self._writes.before(self._table.replica[reads], reads) + 1
        divided = first_divided + np.arange(len(self._divided))
        view[self._table.job[self._divided]] = divided
        return view

    def _buffers(self, first: int) -> tuple[np.ndarray, int]:
        """Buffer of each instruction, and how many there are."""
        used = np.flatnonzero(among(self._do, (Do.FIRST, Do.MORE, Do.STEP)))
        step = self._steps.after(self._replica[used], self._row[used])
        buffered = np.zeros(self._steps.count, bool)
        buffered[step] = True
        buffer = np.full(len(self._do), ABSENT)
        buffer[used] = (first + np.cumsum(buffered) - 1)[step]
        return buffer, int(np.count_nonzero(buffered))

    def _allocate(
        self, view, source, model, buffer, target, *, looks_at_adds: bool, compiled: bool
    ) -> tuple[np.ndarray, int, tuple[int, ...]]:
        """Slot of every value (the last entry is for none), their number, and the final ones."""
        do, n_replicas = self._do, len(self._schedule.metadata.hosts)
        looking = among(do, ADDS) & looks_at_adds
        computing = among(do, (*ADDS, Do.PUT, Do.PUT_MORE)) & (source == ABSENT)
        uses = (
            (view, (do == Do.GRADIENT) | looking | computing),
            (source, source >= 0),
            (buffer, among(do, (Do.MORE, Do.STEP))),
            (target, do == Do.PUT_MORE),
            (model, looking | among(do, (*STEPS, Do.MIX))),
        )
        last = np.full(n_replicas, len(self._table))
        last = self._writes.before(np.arange(n_replicas), last) + 1
        n_values = 1 + max(0, int(target.max(initial=0)))
        when = np.arange(len(do))
        birth = np.full(n_values, -1)
        birth[target[::-1]] = when[::-1]
        death = birth.copy()
        for value, used in uses:
            used &= value >= 0
            latest = np.full(n_values, -1)
            latest[value[used]] = when[used]
            np.maximum(death, latest, out=death)
        death[last] = len(do)
        order = np.argsort(birth, kind="stable")
        slots = np.full(n_values + 1, -1)
        slots[order], n_slots = assign_slots(birth[order], death[order], compiled=compiled)
        return slots, n_slots, tuple(slots[last].tolist())
