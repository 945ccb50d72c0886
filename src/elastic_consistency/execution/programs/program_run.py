"""A program at work on NumPy arrays that are written again and again."""

from collections.abc import Iterator
from itertools import islice
from math import isfinite
from typing import Any, cast, final

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.aligned import aligned_empty
from elastic_consistency.execution.programs.gap_block import GapBlock
from elastic_consistency.execution.programs.in_place_gradients import in_place_gradient
from elastic_consistency.execution.programs.in_place_steps import in_place_step, is_plain_descent
from elastic_consistency.execution.programs.latest import Latest, model_after
from elastic_consistency.execution.programs.piece import Piece
from elastic_consistency.execution.programs.program import Do, Program
from elastic_consistency.execution.programs.segments import Moments
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule

Array = np.ndarray
Instructions = Iterator[tuple[Any, ...]]
_MORE = (Do.MORE, Do.PUT_MORE)


@final
class ProgramRun:
    """One tile of replicates in the course of one program.

    Args:
        program: What to do.
        oracle: The problem.
        rule: The update rule; its workers send their gradients as they are.
        seeds: One seed a replicate.
        start: (R, d) first model.
        watches: At most one that looks at ADDED, one at STARTED, any number at STEPPED.
        moments: Of these watches in this program.
    """

    def __init__(
        self,
        program: Program,
        oracle: AbstractOracle,
        rule: AbstractRule,
        *,
        seeds: tuple[int, ...],
        start: Array,
        watches: tuple[Watch, ...],
        moments: Moments,
    ) -> None:
        self._program, self._watches, self._moments = program, watches, moments
        self._gradient = in_place_gradient(oracle, seeds, start)
        self._step = [in_place_step(rule, start) for _ in program.final]
        self._slots = list(aligned_empty((program.n_slots, *start.shape), start.dtype))
        self._slots[0][...] = start
        self._scratch = aligned_empty(start.shape, start.dtype)
        moment_of = {watch.moment: watch for watch in watches}
        self._added = GapBlock(start) if Moment.ADDED in moment_of else None
        self._started = GapBlock(start) if Moment.STARTED in moment_of else None
        self._weights = moment_of[Moment.STARTED].weights if self._started else None
        self._started_point = start.copy() if self._started else start
        self._latest = Latest(program)
        self._step_size = np.asarray(rule.auxiliary_step_size, start.dtype)
        alone = bool(((program.do == Do.APPLY) & (program.factor == 1)).all())
        lean = alone and self._added and is_plain_descent(rule) and not program.eager
        self._loop = self._descend_and_compare if lean else self._do_anything

    def run(self, first: int, last: int) -> Piece:
        """Do the instructions from `first` up to `last`, or up to the first infinity."""
        piece, here = Piece(), first
        instructions = self._listed(first, last)
        for pause in self._moments.pauses(first, last):
            self._loop(islice(instructions, pause.before - here))
            here = pause.before
            if pause.check and not self._is_finite(int(self._program.target[here - 1])):
                piece.stopped = here - 1
                break
            for number in pause.watches:
                point = self._point(self._watches[number], here)
                piece.looks.append((number, here, self._watches[number].evaluate(point)))
        piece.squares = [self._squares(watch) for watch in self._watches]
        self._latest.follow(first, here)
        return piece

    def model(self, replica: int) -> Array:
        """(R, d) copy of the present model of a replica."""
        return self._latest.model(replica, self._slots[self._latest.slot(replica)])

    def is_finite(self, replica: int) -> bool:
        """Whether the present model of a replica is finite."""
        return self._is_finite(self._latest.slot(replica))

    def _is_finite(self, slot: int) -> bool:
        return isfinite(np.add.reduce(self._slots[slot], axis=None))

    def _listed(self, first: int, last: int) -> Instructions:
        p = self._program
        columns = (p.do, p.job, p.worker, p.replica, p.factor, p.keep,
                   p.view, p.source, p.model, p.buffer, p.target)  # fmt: skip
        return zip(*(column[first:last].tolist() for column in columns), strict=True)

    def _descend_and_compare(self, instructions: Instructions) -> None:
        """The common case, without calls: plain descent, one job a step, gaps wanted."""
        slots, gradient, scratch = self._slots, self._gradient, self._scratch
        multiply, subtract, step_size = np.multiply, np.subtract, self._step_size
        block = cast(GapBlock, self._added)
        rows, size, k = block.rows, block.size, 0
        for _, job, worker, _, _, _, view, _, model, _, target in instructions:
            viewed, x = slots[view], slots[model]
            subtract(x, viewed, rows[k])
            gradient(viewed, job, worker, scratch)
            multiply(scratch, step_size, scratch)
            subtract(x, scratch, slots[target])
            k += 1
            if k == size:
                block.reduce(k)
                k = 0
        if k:
            block.reduce(k)

    def _do_anything(self, instructions: Instructions) -> None:
        slots, scratch, steps = self._slots, self._scratch, self._step
        for (
            do,
            job,
            worker,
            replica,
            factor,
            keep,
            view,
            kept,
            model,
            buffer,
            target,
        ) in instructions:
            out = slots[target]
            if do == Do.STEP:
                steps[replica](slots[model], slots[buffer], out)
                continue
            if do == Do.GRADIENT:
                self._begin(job, worker, slots[view], out)
                continue
            if self._added and do <= Do.APPLY:
                self._added.compare(slots[model], slots[view])
            if kept < 0:
                self._gradient(slots[view], job, worker, scratch)
            source = scratch if kept < 0 else slots[kept]
            if do == Do.APPLY:
                if factor != 1 or kept >= 0:
                    np.multiply(source, factor, scratch)
                steps[replica](slots[model], scratch, out)
            elif do == Do.DIVIDE:
                np.divide(source, factor, out)
            elif do == Do.MIX:
                _mix(slots[model], keep, source, factor, scratch, out)
            elif do in _MORE:
                np.add(out, source if factor == 1 else np.multiply(source, factor, scratch), out)
            else:
                np.multiply(source, factor, out)

    def _begin(self, job: int, worker: int, view: Array, out: Array) -> None:
        """A gradient, and the started sequence's step with it."""
        if not self._started or self._weights is None:
            self._gradient(view, job, worker, out)
            return
        self._started.compare(self._started_point, view)
        self._gradient(view, job, worker, out)
        np.multiply(out, float(self._weights[job]), self._scratch)
        np.subtract(self._started_point, self._scratch, self._started_point)

    def _point(self, watch: Watch, here: int) -> Array:
        if watch.moment is Moment.ADDED:
            return self._slots[self._program.model[here]]
        if watch.moment is Moment.STARTED:
            return self._started_point
        x = self._slots[self._program.target[here - 1]]
        return model_after(self._program, here - 1, x)

    def _squares(self, watch: Watch) -> Array | None:
        block = {Moment.ADDED: self._added, Moment.STARTED: self._started}.get(watch.moment)
        return block.take() if block else None


def _mix(x: Array, keep: float, taken: Array, weight: float, scratch: Array, out: Array) -> None:
    """out = keep x + weight taken; `out` may be any of them."""
    if keep == 0:
        np.multiply(taken, weight, out)
        return
    np.multiply(taken, weight, scratch)
    np.multiply(x, keep, out)
    np.add(out, scratch, out)
