"""How far a replay in lower precision may end from the executor in double precision."""

from typing import Any, final

import numpy as np

from elastic_consistency.execution import Executor
from elastic_consistency.execution.probes.base import AbstractObserver
from elastic_consistency.hardware_backend.evaluation_error import EvaluationError
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op, Schedule

UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8}


def rounding_bound(
    schedule: Schedule, oracle: AbstractOracle, rule: SGD, *, seeds: tuple[int, ...], dtype: str
) -> np.ndarray:
    """(m, R) bound on ||x_replay - x_executor|| of each final replica, in Euclidean norm.

    A running error analysis: the schedule is executed in double precision, and beside every
    vector y goes a bound e on ||y_replay - y||. With unit roundoff u and
    gamma_k = k u / (1 - k u), one operation adds

        read       gamma_2 (||x|| + e) where it divides by the mass
        gradient   L e + the evaluation error of the oracle
        add        |w| (e + gamma_2 (||u|| + e)), and gamma_(n - 1) of the summed norms
        step       a (e + gamma_2 (||b|| + e)) + u (||x|| + e)
        put, mix   as add, with both weights

    The number n of summands is all that counts, so every order of a reduction is covered.
    Errors only ever add up, hence the bound grows like (1 + step size L)^steps even where the
    true error contracts: it is for schedules of up to some hundred steps.

    Args:
        schedule: A valid schedule.
        oracle: A Linear or a Quadratic, whose evaluation error is known.
        rule: SGD.
        seeds: One a replicate.
        dtype: "float64", "float32" or "bfloat16".

    Raises:
        TypeError: If the errors of the rule or of the oracle are not worked out.
    """
    if not isinstance(rule, SGD):
        raise TypeError(f"rounding_bound needs the rule SGD, got {type(rule).__name__}.")
    # The executor that is compared with rounds as well.
    unit = UNIT_ROUNDOFF[dtype] + UNIT_ROUNDOFF["float64"]
    analysis = _Analysis(schedule, oracle, rule.step_size, unit)
    executor = Executor(
        schedule.metadata,
        oracle,
        rule,
        seeds=seeds,
        start=np.tile(np.asarray(oracle.start(), np.float64), (len(seeds), 1)),
        observers={int(op): (analysis,) for op in Op},
        keep_views=True,
    )
    analysis.open(executor)
    executor.execute(schedule.rows, iter(schedule.staleness().steps.tolist()))
    return analysis.of_models(executor)


@final
class _Analysis(AbstractObserver):
    """Bounds beside an execution; each is a list of (R,) arrays, one a block."""

    def __init__(
        self, schedule: Schedule, oracle: AbstractOracle, step_size: float, unit: float
    ) -> None:
        self._rows, self._meta = schedule.rows, schedule.metadata
        self._step_size, self._unit = step_size, unit
        self._evaluation = EvaluationError(oracle, unit)
        self._row = -1
        self._views: dict[int, dict[int, Any]] = {}
        self._updates: dict[int, list[Any]] = {}
        self._sums: dict[tuple[str, int, int], _Sum] = {}

    def open(self, executor):
        blocks = range(self._meta.n_blocks)
        first = [self._unit * _norm(executor.model_part(0, (b,))) for b in blocks]
        self._x = [list(first) for _ in self._meta.hosts]

    def traces(self):
        return ()

    def observe(self, event, executor):
        self._row += 1
        handlers = {
            Op.READ: self._read,
            Op.GRADIENT: self._gradient,
            Op.ADD: self._add,
            Op.STEP: self._step,
            Op.PUT: self._put,
            Op.MIX: self._mix,
        }
        handler = handlers.get(Op(event.op))
        if handler is not None:
            handler(event, executor)

    def of_models(self, executor: Executor) -> np.ndarray:
        """(m, R) bounds on the models, divided by their masses."""
        return np.stack(
            [
                np.sqrt(sum(self._read_error(r, b, executor) ** 2 for b in range(len(errors))))
                for r, errors in enumerate(self._x)
            ]
        )

    def _gamma(self, count: int) -> float:
        return count * self._unit / (1 - count * self._unit)

    def _covered(self) -> range:
        block = int(self._rows.block[self._row])
        return range(self._meta.n_blocks) if block < 0 else range(block, block + 1)

    def _read_error(self, replica: int, b: int, executor: Executor) -> Any:
        error, mass = self._x[replica][b], executor.mass(replica)
        if mass == 1.0:
            return error
        size = _norm(executor.model_part(replica, (b,)))
        return (error + self._gamma(2) * (size + error)) / mass

    def _read(self, event, executor) -> None:
        view = self._views.setdefault(event.job, {})
        for b in self._covered():
            view[b] = self._read_error(event.replica, b, executor)

    def _gradient(self, event, executor) -> None:
        errors = self._views.pop(event.job)
        view, gradient = executor.view(event.job), executor.gradient_of(event.job)
        bounds = self._block_bounds(executor)
        self._updates[event.job] = [
            self._evaluation.bound(view, gradient, event.worker, first, last, errors[b])
            for b, (first, last) in enumerate(bounds)
        ]

    def _block_bounds(self, executor: Executor) -> list[tuple[int, int]]:
        widths = [executor.width((b,)) for b in range(self._meta.n_blocks)]
        ends = np.cumsum(widths).tolist()
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def _add(self, event, executor) -> None:
        weight = abs(float(self._rows.weight[self._row]))
        for b in self._covered():
            if event.job >= 0:
                size, error = (
                    _norm(executor.update_part(event.job, (b,))),
                    self._updates[event.job][b],
                )
            else:
                size, error = self._whole("message", event.message, b)
            self._summand("buffer", event.replica, b, weight, size, error)

    def _step(self, event, executor) -> None:
        for b in self._covered():
            if ("buffer", event.replica, b) not in self._sums:
                continue
            size, error = self._whole("buffer", event.replica, b)
            del self._sums["buffer", event.replica, b]
            moved = self._step_size * (error + self._gamma(2) * (size + error))
            self._arrive(event.replica, b, self._x[event.replica][b] + moved, executor)

    def _put(self, event, executor) -> None:
        weight, keep = abs(float(self._rows.weight[self._row])), float(self._rows.keep[self._row])
        for b in self._covered():
            if event.job >= 0:
                size, error = (
                    _norm(executor.update_part(event.job, (b,))),
                    self._updates[event.job][b],
                )
            else:
                # After the row the model is scaled by keep already.
                size = _norm(executor.model_part(event.replica, (b,))) / (keep if keep > 0 else 1.0)
                error = self._x[event.replica][b]
            self._summand("message", event.message, b, weight, size, error)
            if keep >= 0:
                kept = keep * (error + self._gamma(2) * (size + error))
                self._x[event.replica][b] = kept

    def _mix(self, event, executor) -> None:
        weight, keep = abs(float(self._rows.weight[self._row])), float(self._rows.keep[self._row])
        for b in range(self._meta.n_blocks):
            size, error = self._whole("message", event.message, b)
            taken = weight * (error + self._gamma(2) * (size + error))
            own, after = self._x[event.replica][b], _norm(executor.model_part(event.replica, (b,)))
            # ||keep x|| <= ||x after|| + ||weight m||
            kept = keep * own + self._gamma(2) * (after + weight * size + keep * own)
            self._arrive(event.replica, b, taken + kept, executor)

    def _arrive(self, replica: int, b: int, error: Any, executor: Executor) -> None:
        """One addition whose exact result is the model after the row."""
        size = _norm(executor.model_part(replica, (b,)))
        self._x[replica][b] = error + self._unit * (size + error)

    def _summand(
        self, kind: str, number: int, b: int, weight: float, size: Any, error: Any
    ) -> None:
        total = self._sums.setdefault((kind, number, b), _Sum())
        total.sizes = total.sizes + weight * size
        total.errors = total.errors + weight * (error + self._gamma(2) * (size + error))
        total.count += 1

    def _whole(self, kind: str, number: int, b: int) -> tuple[Any, Any]:
        """Bounds on the norm and on the error of a sum, in whatever order it was summed."""
        total = self._sums[kind, number, b]
        rounding = self._gamma(total.count - 1) * (total.sizes + total.errors)
        return total.sizes, total.errors + rounding


@final
class _Sum:
    """A sum of vectors: the summed norms, the summed errors, the number of vectors."""

    __slots__ = ("count", "errors", "sizes")

    def __init__(self) -> None:
        self.count, self.errors, self.sizes = 0, 0.0, 0.0


def _norm(rows: Any) -> np.ndarray:
    return np.linalg.norm(rows, axis=-1)
