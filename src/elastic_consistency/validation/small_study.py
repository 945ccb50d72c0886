"""A small study: a schedule, a problem and a rule, measured exactly."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from elastic_consistency.bounds import Bound, Requirement
from elastic_consistency.execution import Engine, Measurement, Trace, execute
from elastic_consistency.execution.probes import AppliedSequence, StartedSequence
from elastic_consistency.execution.programs.in_place_steps import sends_its_gradient
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.optimization.compression import AbstractCodec, ErrorFeedback, Identity
from elastic_consistency.optimization.oracles import AbstractOracle, Constants, Quadratic
from elastic_consistency.optimization.update_rules import SGD, AbstractRule, HeavyBall, Nesterov
from elastic_consistency.schedule import SERVER, Schedule
from elastic_consistency.schedule.staleness import at_most_one_unapplied_job
from elastic_consistency.validation.contraction import EncodedVectors, is_deterministic
from elastic_consistency.validation.estimate import Estimate, exact
from elastic_consistency.validation.expectations import Expectations, expectations
from elastic_consistency.validation.gaps import aligned_gap, noise_gap, view_difference
from elastic_consistency.validation.judge import ROUNDING, judge
from elastic_consistency.validation.verdict import Verdict

# Other sequences are the started one of a system whose view lags behind for another reason.
_TRACE_OF = {
    Sequence.STARTED: "started",
    Sequence.APPLIED: "applied",
    Sequence.MOMENTUM: "started",
    Sequence.ERROR_CORRECTED: "started",
}
_ERROR_RATE = 1e-9  # exact figures do not err; judge() wants a number
_MOST_JOBS = 1000  # a trace keeps every point up to here
_BY_COEFFICIENTS = (Sequence.STARTED, Sequence.APPLIED, Sequence.AGGREGATE, Sequence.MEAN)


@final
@dataclass(frozen=True, eq=False)
class SmallStudy:
    """What a property test tries: everything that it needs to know is exact.

    Attributes:
        schedule: A drained schedule.
        oracle: A problem without noise, or with noise where expectations are exact: a quadratic
            with plain SGD on one block.
        rule: The update rule.
        codec: Compression of updates.
        engine: How it is executed; it must change nothing, and property tests try several.
    """

    schedule: Schedule
    oracle: AbstractOracle
    rule: AbstractRule
    codec: AbstractCodec = field(default_factory=Identity)
    engine: Engine = Engine.ROWS

    def __post_init__(self) -> None:
        n_jobs = len(self.schedule.jobs)
        if n_jobs > _MOST_JOBS:
            raise ValueError(
                f"SmallStudy.schedule must have at most {_MOST_JOBS} jobs, got {n_jobs}."
            )
        if self.oracle.draws_per_job and not self._is_linear:
            raise ValueError(
                "SmallStudy.oracle must be without noise, or a quadratic on one block with plain "
                f"SGD and no compression, got {type(self.oracle).__name__}."
            )
        if not is_deterministic(self.codec, self.oracle.dimension):
            raise ValueError(f"SmallStudy.codec must be deterministic, got {self.codec!r}.")

    @property
    def _is_linear(self) -> bool:
        """Whether every view is a linear function of the noise."""
        alike = isinstance(self.oracle, Quadratic) and self.oracle.offsets is None
        plain = isinstance(self.rule, SGD) and isinstance(self.codec, Identity)
        return alike and plain and self.schedule.metadata.n_blocks == 1

    @cached_property
    def expected(self) -> Expectations:
        """Expectations over the noise, exactly.

        Raises:
            ValueError: If views are not linear in the noise.
        """
        if not self._is_linear or not isinstance(self.oracle, Quadratic):
            raise ValueError(
                "SmallStudy.oracle must be a quadratic on one block with plain SGD and no "
                f"compression, got {type(self.oracle).__name__}."
            )
        return expectations(self.schedule, self.oracle, self.rule.auxiliary_step_size)

    @cached_property
    def measurement(self) -> Measurement:
        """The execution, with the started and, where there is a server, the applied sequence."""
        probes = (StartedSequence(), AppliedSequence())
        n_probes = 2 if SERVER in self.schedule.metadata.hosts else 1
        return execute(
            self.schedule,
            self.oracle,
            self.rule,
            codec=self.codec,
            seeds=(0,),
            probes=probes[:n_probes],
            engine=self.engine,
        )

    def values(self) -> dict[str, float]:
        """Every constant that bounds ask for and that this study determines."""
        start, minimiser = self.oracle.start(), self.oracle.minimiser()
        constants = self._constants
        second_moment, gap = self._second_moment_and_gap()
        values = {
            "n": float(self.schedule.metadata.n_workers),
            "p": float(self.schedule.metadata.n_workers),
            "c_jobs": float(self.schedule.in_flight().max()),
            "tau_max": float(self.schedule.staleness().steps.max(initial=0)),
            # The last point of the started sequence is x_T, after all jobs but the last.
            "T": float(len(self.schedule.jobs) - 1),
            "R": float(self.schedule.staleness().steps.max(initial=1)),
            "alpha": self.rule.auxiliary_step_size,
            "sigma": math.sqrt(constants.variance),
            "M": second_moment,
            "B": gap,
            "d": float(self.oracle.dimension),
            "gamma": self.codec.contraction(self.oracle.dimension),
        }
        values |= {"L": constants.smoothness} if constants.smoothness else {}
        values |= {"c": constants.strong_convexity} if constants.strong_convexity > 0 else {}
        if isinstance(self.rule, HeavyBall | Nesterov):
            values["mu"] = self.rule.momentum
        if constants.infimum is not None:
            values["Delta"] = float(self.oracle.loss(start[None])[0]) - constants.infimum
        if minimiser is not None:
            values["R0"] = float(np.linalg.norm(start - minimiser))
        return {name: value for name, value in values.items() if value or name != "gamma"}

    def _second_moment_and_gap(self) -> tuple[float, float]:
        """M along the trajectory, or on the ball that holds it, and the B that was measured."""
        if self.oracle.draws_per_job:
            steps, gaps = self.expected.squared_step, self.expected.squared_gap
            return math.sqrt(steps.max(initial=0.0)), math.sqrt(gaps.max(initial=0.0))
        return math.sqrt(self._constants.second_moment), self.measurement["gap_started"].peak

    def _heaviest_weight(self) -> float:
        """Largest weight with which all applications of one job together count."""
        return float(np.nanmax(self.schedule.jobs.share, initial=0.0))

    @cached_property
    def _constants(self) -> Constants:
        """Constants where the trajectory is; with noise it may be anywhere."""
        return self.oracle.constants(math.inf if self.oracle.draws_per_job else self._radius())

    def _radius(self) -> float:
        """Radius of a ball around the minimiser in which all views stayed."""
        if "squared_distance_started" not in self.measurement.traces:
            return math.inf
        distance = math.sqrt(self.measurement["squared_distance_started"].values.max(initial=0.0))
        gap = self.measurement["gap_started"].values.max(initial=0.0)
        return float(distance + gap * self.rule.auxiliary_step_size)

    def unmet(self) -> frozenset[Requirement]:
        """Requirements of theorems that this study visibly breaks."""
        unmet = set()
        if not self.rule.constant_step:
            unmet.add(Requirement.CONSTANT_STEP_SIZE)
        if not isinstance(self.rule, HeavyBall):
            unmet.add(Requirement.HEAVY_BALL)
        if not isinstance(self.rule, Nesterov):
            unmet.add(Requirement.NESTEROV)
        if self._heaviest_weight() > 1 + ROUNDING:
            unmet.add(Requirement.UNIT_WEIGHT)
        if not isinstance(self.codec, ErrorFeedback | Identity):
            unmet.add(Requirement.ERROR_FEEDBACK)
        if not at_most_one_unapplied_job(self.schedule):
            unmet.add(Requirement.ONE_UNAPPLIED_JOB)
        if not self._has_one_model():
            unmet |= {Requirement.STARTED_ORDER, Requirement.APPLIED_ORDER}
        return frozenset(unmet)

    def _has_one_model(self) -> bool:
        """Whether all updates enter one model at a server, which alone orders them for all."""
        return self.schedule.metadata.hosts == (SERVER,)

    def measure(self, bound: Bound) -> Estimate:
        """The figure that `bound` bounds, exactly.

        A gap is taken over all gradients that its constants allow where the schedule alone
        decides it; all else is read off the execution.

        Raises:
            ValueError: If this study cannot measure it.
        """
        value = self._figure(bound)
        return exact(
            value,
            quantity=bound.quantity,
            sequence=bound.sequence,
            conditional_on=self._constants.estimated,
        )

    def _figure(self, bound: Bound) -> float:
        quantity, n_steps = bound.quantity, max(1, len(self.schedule.jobs) - 1)
        if quantity is Quantity.GAP:
            return self._gap(bound)
        if quantity is Quantity.STALENESS:
            return float(self.schedule.staleness().steps.sum())
        if quantity is Quantity.CONTRACTION:
            return self._contraction()
        if (self.schedule.jobs.share == 0).any():
            raise ValueError("SmallStudy.schedule must not discard jobs: they take no step.")
        if quantity is Quantity.SUBOPTIMALITY:
            return float(self.expected.suboptimality_at_view[:n_steps].mean())
        if quantity is Quantity.MEAN_SQUARED_GRADIENT:
            return float(self._along(quantity, bound.sequence)[:n_steps].mean())
        if quantity is Quantity.SQUARED_DISTANCE:
            return float(self._along(quantity, bound.sequence)[-1])
        raise ValueError(f"bound must be on what a study measures, got one on {quantity}.")

    def _contraction(self) -> float:
        """Largest ||Q(w) - w||^2 / ||w||^2 of all that was encoded."""
        if self.schedule.metadata.n_blocks > 1 or not sends_its_gradient(self.rule):
            raise ValueError("SmallStudy must encode whole gradients, got blocks or another rule.")
        probe = EncodedVectors(feedback=isinstance(self.codec, ErrorFeedback))
        options = {"codec": self.codec, "seeds": (0,), "probes": (probe,)}
        measured = execute(self.schedule, self.oracle, self.rule, **options)
        return float(measured["contraction"].values.max(initial=0.0))

    def _along(self, quantity: Quantity, sequence: Sequence) -> np.ndarray:
        """(J,) expectations at the points of a sequence."""
        distance = quantity is Quantity.SQUARED_DISTANCE
        if not self.oracle.draws_per_job:
            name = "squared_distance" if distance else "squared_gradient"
            return self._trace(name, sequence).values[:, 0]
        if sequence is not Sequence.STARTED:
            raise ValueError(f"bound must be on the started sequence with noise, got {sequence}.")
        return self.expected.squared_distance if distance else self.expected.squared_gradient

    def _gap(self, bound: Bound) -> float:
        additive = self.rule.additive and self.rule.constant_step
        free = additive and isinstance(self.codec, Identity)
        if free and bound.sequence in _BY_COEFFICIENTS:
            difference = view_difference(self.schedule, bound.sequence)
            names = {symbol.name for symbol in bound.symbols}
            if "sigma" in names and "M" not in names:
                return self.values()["sigma"] * noise_gap(difference)
            return self.values()["M"] * aligned_gap(difference)
        return self._trace("gap", bound.sequence).peak

    def _trace(self, name: str, sequence: Sequence) -> Trace:
        if sequence not in _TRACE_OF or self.oracle.draws_per_job:
            raise ValueError(f"bound must be on a sequence that is probed, got {sequence}.")
        return self.measurement[f"{name}_{_TRACE_OF[sequence]}"]


def judge_exactly(
    study: SmallStudy, bound: Bound, values: Mapping[str, float] | None = None
) -> Verdict:
    """What a study says about `bound`, with the constants that it knows.

    Args:
        study: What is measured.
        bound: The theorem.
        values: Constants that the study does not know by itself, or that replace its own.
    """
    known = study.values() | dict(values or {})
    figure = study.measure(bound)
    return judge(figure, bound, known, error_rate=_ERROR_RATE, unmet=study.unmet())
