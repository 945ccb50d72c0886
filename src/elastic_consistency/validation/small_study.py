"""A small study: a schedule, a problem and a rule, measured exactly."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

import numpy as np

from elastic_consistency.bounds import Bound, Requirement
from elastic_consistency.execution import Engine, Measurement, execute
from elastic_consistency.execution.probes import AppliedSequence, StartedSequence
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.optimization.compression import AbstractCodec, ErrorFeedback, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule, HeavyBall
from elastic_consistency.schedule import SERVER, Schedule
from elastic_consistency.schedule.staleness import first_reads, last_uses
from elastic_consistency.validation.estimate import Estimate, exact
from elastic_consistency.validation.gaps import aligned_gap, noise_gap, view_difference
from elastic_consistency.validation.judge import ROUNDING

# Other sequences are the started one of a system whose view lags behind for another reason.
_TRACE_OF = {
    Sequence.STARTED: "started",
    Sequence.APPLIED: "applied",
    Sequence.MOMENTUM: "started",
    Sequence.ERROR_CORRECTED: "started",
}
_BY_COEFFICIENTS = (Sequence.STARTED, Sequence.APPLIED, Sequence.AGGREGATE, Sequence.MEAN)


@final
@dataclass(frozen=True, eq=False)
class SmallStudy:
    """What a property test tries: everything that it needs to know is exact.

    Attributes:
        schedule: A drained schedule.
        oracle: A problem without noise.
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
        if self.oracle.draws_per_job:
            raise ValueError("SmallStudy.oracle must be without noise, got one that draws.")

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
        constants = self.oracle.constants(self._radius())
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
            "M": math.sqrt(constants.second_moment),
            "B": self.measurement["gap_started"].peak,
            "d": float(self.oracle.dimension),
            "gamma": self.codec.contraction(self.oracle.dimension),
        }
        values |= {"L": constants.smoothness} if constants.smoothness else {}
        values |= {"c": constants.strong_convexity} if constants.strong_convexity > 0 else {}
        if isinstance(self.rule, HeavyBall):
            values["mu"] = self.rule.momentum
        if constants.infimum is not None:
            values["Delta"] = float(self.oracle.loss(start[None])[0]) - constants.infimum
        if minimiser is not None:
            values["R0"] = float(np.linalg.norm(start - minimiser))
        if self._heaviest_weight() > 1 + ROUNDING:
            del values["c_jobs"]  # bounds by a number of jobs count each with weight 1 at most
        return {name: value for name, value in values.items() if value or name != "gamma"}

    def _heaviest_weight(self) -> float:
        """Largest weight with which all applications of one job together count."""
        return float(np.nanmax(self.schedule.jobs.share, initial=0.0))

    def _radius(self) -> float:
        """Radius of a ball around the minimiser in which all views stayed."""
        if "squared_distance_started" not in self.measurement.traces:
            return math.inf
        distance = math.sqrt(self.measurement["squared_distance_started"].values.max())
        gap = self.measurement["gap_started"].values.max() * self.rule.auxiliary_step_size
        return float(distance + gap)

    def unmet(self) -> frozenset[Requirement]:
        """Requirements of theorems that this study visibly breaks."""
        unmet = set()
        if not self.rule.constant_step:
            unmet.add(Requirement.CONSTANT_STEP_SIZE)
        if not isinstance(self.rule, HeavyBall):
            unmet.add(Requirement.HEAVY_BALL)
        if not isinstance(self.codec, ErrorFeedback | Identity):
            unmet.add(Requirement.ERROR_FEEDBACK)
        if not self._at_most_one_unapplied_job():
            unmet.add(Requirement.ONE_UNAPPLIED_JOB)
        if not self._has_one_model():
            unmet |= {Requirement.STARTED_ORDER, Requirement.APPLIED_ORDER}
        return frozenset(unmet)

    def _has_one_model(self) -> bool:
        """Whether all updates enter one model at a server, which alone orders them for all."""
        return self.schedule.metadata.hosts == (SERVER,)

    def _at_most_one_unapplied_job(self) -> bool:
        jobs = self.schedule.jobs
        read, used = first_reads(self.schedule), last_uses(self.schedule)
        order = np.lexsort((read, jobs.worker))
        same = jobs.worker[order[1:]] == jobs.worker[order[:-1]]
        return bool((used[order[:-1]] < read[order[1:]])[same].all())

    def measure(self, bound: Bound) -> Estimate:
        """The figure that `bound` bounds, exactly.

        A gap is taken over all gradients that its constants allow where the schedule alone
        decides it; all else is read off the execution.

        Raises:
            ValueError: If this study cannot measure it.
        """
        quantity, sequence = bound.quantity, bound.sequence
        if quantity is Quantity.GAP:
            value = self._gap(bound)
        elif quantity is Quantity.STALENESS:
            value = float(self.schedule.staleness().steps.sum())
        elif (self.schedule.jobs.share == 0).any():
            raise ValueError("SmallStudy.schedule must not discard jobs: they take no step.")
        elif quantity is Quantity.MEAN_SQUARED_GRADIENT:
            n_steps = max(1, len(self.schedule.jobs) - 1)
            trace = f"squared_gradient_{_TRACE_OF[sequence]}"
            value = float(self.measurement[trace].values[:n_steps].mean())
        elif quantity is Quantity.SQUARED_DISTANCE:
            value = float(self.measurement["squared_distance_started"].last[0])
        else:
            raise ValueError(f"bound must be on what a study measures, got one on {quantity}.")
        estimated = self.oracle.constants(self._radius()).estimated
        return replace(exact(value), quantity=quantity, sequence=sequence, conditional_on=estimated)

    def _gap(self, bound: Bound) -> float:
        additive = self.rule.additive and self.rule.constant_step
        free = additive and isinstance(self.codec, Identity)
        if free and bound.sequence in _BY_COEFFICIENTS:
            difference = view_difference(self.schedule, bound.sequence)
            names = {symbol.name for symbol in bound.symbols}
            if "sigma" in names and "M" not in names:
                return self.values()["sigma"] * noise_gap(difference)
            return self.values()["M"] * aligned_gap(difference)
        if bound.sequence not in _TRACE_OF:
            raise ValueError(f"bound must be on a sequence that is probed, got {bound.sequence}.")
        return self.measurement[f"gap_{_TRACE_OF[bound.sequence]}"].peak
