"""A program at work in compiled loops: plain descent and heavy ball on the built-in oracles."""

from typing import Any, final

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.aligned import aligned_empty
from elastic_consistency.execution.programs.in_place_steps import is_plain_descent
from elastic_consistency.execution.programs.latest import Latest, model_after
from elastic_consistency.execution.programs.piece import Piece
from elastic_consistency.execution.programs.program import ADDS, Do, Program, among
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
        from elastic_consistency.execution.programs import compiled_kernels, pairwise_sums

        self._kernels, self._leaves = compiled_kernels, pairwise_sums.leaves_of(start.shape[1])
        self._program, self._watches, self._moments = program, watches, moments
        self._oracle, (replicates, d) = oracle, start.shape
        self._draws = JobUniforms(seeds, Cause.SAMPLE, -1, oracle.draws_per_job)
        self._how = compiled_kernels.Arithmetic(**_arithmetic(oracle, rule))
        moving = self._how.moves
        self._velocity = np.zeros((replicates, len(program.final), d if moving else 0))
        self._slots = aligned_empty((replicates, program.n_slots, d))
        self._slots[:, 0] = start
        weights = [w.weights for w in watches if w.moment is Moment.STARTED]
        self._compares = any(watch.moment is Moment.ADDED for watch in watches)
        self._point = start.copy() if weights else np.empty((replicates, 0))
        self._columns = compiled_kernels.Columns(**_columns(program, weights))
        self._latest = Latest(program)

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
        self._latest.follow(first, here)
        return piece

    def model(self, replica: int) -> Array:
        """(R, d) copy of the present model of a replica."""
        return self._latest.model(replica, self._slots[:, self._latest.slot(replica)])

    def is_finite(self, replica: int) -> bool:
        """Whether the present model of a replica is finite."""
        return bool(np.isfinite(np.sum(self._slots[:, self._latest.slot(replica)])))

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
        counts = self._counted(first, last)
        noise = self._noise(first, last, counts[0])
        replicates = len(self._slots)
        added = np.zeros((replicates, counts[1] if self._compares else 0))
        started = np.zeros((replicates, counts[0]))
        steps = self._moments.steps_before(first)
        stops = [
            self._kernels.run(
                self._columns, first, last, steps, self._how, self._slots[r], self._velocity[r],
                self._point[r], noise[r], added[r], started[r], self._leaves,
            )
            for r in range(replicates)
        ]  # fmt: skip
        reached = min((stop for stop in stops if stop >= 0), default=None)
        if reached is None:
            return None, added.T, started.T
        counts = self._counted(first, reached + 1)
        return reached, added.T[: counts[1]], started.T[: counts[0]]

    def _counted(self, first: int, last: int) -> tuple[int, int]:
        """GRADIENTs and additions among some instructions."""
        do = self._program.do[first:last]
        begun = np.count_nonzero(do == Do.GRADIENT)
        return int(begun), int(np.count_nonzero(among(do, ADDS))) if self._compares else 0

    def _noise(self, first: int, last: int, count: int) -> Array:
        """(R, G, d) noise of the gradients in a stretch, or (R, G, 0)."""
        replicates, _, d = self._slots.shape
        if not self._oracle.draws_per_job:
            return np.empty((replicates, count, 0))
        do, job = self._program.do[first:last], self._program.job[first:last]
        blank, variance = self._slots[:, 0], self._oracle.variance  # type: ignore[attr-defined]
        noise = np.empty((replicates, count, d))
        for k, j in enumerate(job[do == Do.GRADIENT].tolist()):
            noise[:, k] = gaussian_noise(self._draws(j), variance, blank)
        return noise

    def _look_at(self, watch: Watch, here: int) -> Array:
        if watch.moment is Moment.STARTED:
            return self._point
        program = self._program
        if watch.moment is Moment.ADDED:
            return self._slots[:, program.model[here]]
        return model_after(program, here - 1, self._slots[:, program.target[here - 1]])


def _columns(program: Program, weights: list[Any]) -> dict[str, Array]:
    """Columns for the loop; the factor of a GRADIENT is its weight in the started sequence."""
    names = ("do", "source", "model", "buffer", "target", "replica", "factor", "keep")
    columns = {name: getattr(program, name) for name in names}
    columns["seen"] = program.view  # Numba takes an attribute `view` for the method of arrays
    if weights:
        begun = program.do == Do.GRADIENT
        columns["factor"] = np.where(begun, weights[0][program.job], program.factor)
    return columns


def _arithmetic(oracle: Any, rule: Any) -> dict[str, Any]:
    """What compiled_kernels.Arithmetic holds."""
    from elastic_consistency.execution.programs.compiled_kernels import CENTRED, CONSTANT, SCALED

    optimum = np.zeros(oracle.dimension)
    if isinstance(oracle, Linear):
        kind, scale = CONSTANT, 0.0 + oracle.slope
    elif oracle.optimum is None:
        kind, scale = SCALED, oracle.spectrum
    else:
        kind, scale, optimum = CENTRED, oracle.spectrum, oracle.optimum
    moves = isinstance(rule, HeavyBall)
    return {
        "kind": kind,
        "scale": np.ascontiguousarray(scale, np.float64),
        "centre": np.ascontiguousarray(optimum, np.float64),
        "step_size": float(rule.step_size if moves else rule.auxiliary_step_size),
        "momentum": float(rule.momentum) if moves else 0.0,
        "moves": moves,
    }
