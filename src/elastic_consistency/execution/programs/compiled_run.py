"""A program at work in compiled loops: plain descent and heavy ball on the built-in oracles."""

from typing import Any, final

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.in_place_steps import is_plain_descent
from elastic_consistency.execution.programs.piece import Piece
from elastic_consistency.execution.programs.program import Do, Program
from elastic_consistency.execution.programs.segments import Moments
from elastic_consistency.optimization.oracles import AbstractOracle, Linear, Quadratic
from elastic_consistency.optimization.oracles.gaussian_noise import gaussian_noise
from elastic_consistency.optimization.update_rules import AbstractRule, HeavyBall
from elastic_consistency.random_streams import Cause, JobUniforms

_NOISE = 2**21  # numbers of noise drawn at a time

Array = np.ndarray


def can_compile(oracle: AbstractOracle, rule: AbstractRule, start: Any) -> bool:
    """Whether the kernels know this arithmetic: float64, homogeneous data, linear rule."""
    known = isinstance(oracle, Linear) or (isinstance(oracle, Quadratic) and oracle.offsets is None)
    linear = is_plain_descent(rule) or isinstance(rule, HeavyBall)
    return known and linear and start.dtype == np.float64


@final
class CompiledRun:
    """All replicates of one execution, one after the other through each stretch of the program.

    The arguments are those of ProgramRun, and so is what it gives.
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
        from elastic_consistency.execution.programs import compiled_kernels

        self._kernels, self._leaves = compiled_kernels, compiled_kernels.leaves_of(start.shape[1])
        self._program, self._watches, self._moments = program, watches, moments
        self._oracle, (replicates, d) = oracle, start.shape
        self._draws = JobUniforms(seeds, Cause.SAMPLE, -1, oracle.draws_per_job)
        self._constants, self._sizes = _constants(oracle), _sizes(oracle, rule)
        moving = isinstance(rule, HeavyBall)
        self._velocity = np.zeros((replicates, len(program.final), d if moving else 0))
        self._slots = np.empty((replicates, program.n_slots, d))
        self._slots[:, 0] = start
        weights = [w.weights for w in watches if w.moment is Moment.STARTED]
        self._compares = any(watch.moment is Moment.ADDED for watch in watches)
        self._point = start.copy() if weights else np.empty((replicates, 0))
        self._columns, self._factors = _columns(program), _factors(program, weights)
        alone = bool(((program.do == Do.APPLY) & (program.factor == 1)).all())
        centred = isinstance(oracle, Quadratic) and oracle.optimum is None
        self._lean = alone and centred and not moving and self._compares
        self._latest = np.zeros(len(program.final), np.int64)

    def run(self, first: int, last: int) -> Piece:
        """Do the instructions from `first` up to `last`, or up to the first infinity."""
        piece, here = Piece(), first
        added, started = [], []
        for before, watches in self._stretches(first, last):
            stopped, gaps, gaps_started = self._stretch(here, before)
            added.append(gaps)
            started.append(gaps_started)
            here = before if stopped is None else stopped + 1
            if stopped is not None:
                piece.stopped = stopped
                break
            for number in watches:
                point = self._look_at(self._watches[number], here)
                piece.looks.append((number, here, self._watches[number].evaluate(point)))
        gaps_of = {Moment.ADDED: added, Moment.STARTED: started, Moment.STEPPED: None}
        for watch in self._watches:
            parts = gaps_of[watch.moment]
            piece.squares.append(None if parts is None else np.concatenate(parts, axis=0))
        steps = first + np.flatnonzero(self._program.do[first:here] >= Do.STEP)
        self._latest[self._program.replica[steps]] = self._program.target[steps]
        return piece

    def model(self, replica: int) -> Array:
        """(R, d) copy of the present model of a replica."""
        return self._slots[:, self._latest[replica]].copy()

    def is_finite(self, replica: int) -> bool:
        """Whether the present model of a replica is finite."""
        return bool(np.isfinite(np.sum(self._slots[:, self._latest[replica]])))

    def _stretches(self, first: int, last: int) -> Any:
        """Ends of stretches, none with too many noises at a time, and who looks there."""
        longest = max(1, _NOISE // self._slots[:, 0].size) if self._oracle.draws_per_job else None
        for pause in self._moments.pauses(first, last, for_checks=False):
            while longest and first + longest < pause.before:
                first += longest
                yield first, ()
            first = pause.before
            yield pause.before, pause.watches

    def _stretch(self, first: int, last: int) -> tuple[int | None, Array, Array]:
        """Where it stopped, and (K, R) squared gaps at additions and at GRADIENTs before that."""
        columns = self._columns[first:last].copy()
        columns[:, 7:] -= columns[:1, 7:]
        counts = _counted(self._program.do[first:last])
        noise = self._noise(first, last, counts[0])
        replicates = len(self._slots)
        added = np.zeros((replicates, counts[1] if self._compares else 0))
        started = np.zeros((replicates, counts[0]))
        steps = self._moments.steps_before(first)
        stops = [
            self._replicate(r, columns, steps, slice(first, last), noise, added[r], started[r])
            for r in range(replicates)
        ]
        reached = min((stop for stop in stops if stop >= 0), default=None)
        if reached is None:
            return None, added.T, started.T
        counts = _counted(self._program.do[first : first + reached + 1])
        return first + reached, added.T[: counts[1]], started.T[: counts[0]]

    def _replicate(self, r, columns, steps, part, noise, added, started) -> int:
        if self._lean:
            scale, step_size = self._constants[0], self._sizes[0]
            return self._kernels.run_lean(
                columns, steps, self._slots[r], scale, step_size, added, *self._leaves
            )
        return self._kernels.run_any(
            columns, self._factors[part], noise[:, r], steps, self._slots[r], self._constants,
            self._sizes, self._velocity[r], self._point[r], added, started, *self._leaves,
        )  # fmt: skip

    def _noise(self, first: int, last: int, count: int) -> Array:
        """(G, R, d) noise of the gradients in a stretch, or (G, R, 0)."""
        replicates, _, d = self._slots.shape
        if not self._oracle.draws_per_job:
            return np.empty((count, replicates, 0))
        do, job = self._program.do[first:last], self._program.job[first:last]
        blank, variance = self._slots[:, 0], self._oracle.variance  # type: ignore[attr-defined]
        noises = [
            gaussian_noise(self._draws(j), variance, blank) for j in job[do == Do.GRADIENT].tolist()
        ]
        return np.stack(noises) if noises else np.empty((0, replicates, d))

    def _look_at(self, watch: Watch, here: int) -> Array:
        if watch.moment is Moment.STARTED:
            return self._point
        after = watch.moment is Moment.STEPPED
        program = self._program
        return self._slots[:, program.target[here - 1] if after else program.model[here]]


def _columns(program: Program) -> Array:
    """(I, 9) as run_any takes them; numbers in columns 7 and 8 count over the whole program."""
    adding = np.isin(program.do, (Do.FIRST, Do.MORE, Do.APPLY))
    begun = program.do == Do.GRADIENT
    named = (program.do, program.view, program.gradient, program.model, program.buffer,
             program.target, program.replica)  # fmt: skip
    counts = [np.cumsum(chosen) - chosen for chosen in (begun, adding)]
    return np.stack([*named, *counts], axis=1).astype(np.int64)


def _factors(program: Program, weights: list[Any]) -> Array:
    """Factor of an addition, or weight of a GRADIENT in the started sequence."""
    if not weights:
        return program.factor
    begun = program.do == Do.GRADIENT
    return np.where(begun, weights[0][program.job], program.factor)


def _counted(do: Array) -> tuple[int, int]:
    begun = int(np.count_nonzero(do == Do.GRADIENT))
    return begun, int(np.count_nonzero((do != Do.GRADIENT) & (do != Do.STEP)))


def _constants(oracle: Any) -> Array:
    if isinstance(oracle, Linear):
        return np.stack([0.0 + oracle.slope, np.zeros(oracle.dimension)])
    optimum = np.zeros(oracle.dimension) if oracle.optimum is None else oracle.optimum
    return np.stack([oracle.spectrum, optimum]).astype(np.float64)


def _sizes(oracle: AbstractOracle, rule: Any) -> Array:
    momentum = rule.momentum if isinstance(rule, HeavyBall) else 0.0
    step_size = rule.step_size if isinstance(rule, HeavyBall) else rule.auxiliary_step_size
    return np.array([step_size, momentum, float(isinstance(oracle, Linear))])
