"""The first contender against the theorems: what is measured, what is promised, and a verdict."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.bounds import Requirement, get
from elastic_consistency.execution import Measurement
from elastic_consistency.execution.probes.applied import AppliedSequence
from elastic_consistency.execution.probes.started import StartedSequence
from elastic_consistency.optimization.compression import Identity
from elastic_consistency.optimization.oracles import Constants
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import SERVER, Schedule
from elastic_consistency.studies.certified_step import CertifiedStep, certified_step
from elastic_consistency.studies.claims import Limits, gap_claim, limits_of, theorem_claims
from elastic_consistency.studies.divergence import Place
from elastic_consistency.studies.farthest import FarthestModel
from elastic_consistency.studies.judged_run import judged_run
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.runs import with_step_size
from elastic_consistency.studies.study import Certificate, Contender, Study
from elastic_consistency.validation import Claim, Verdict, judge_all

_MOST_JOBS = 1000  # a trace keeps every point up to here, and the proofs need every point


@final
@dataclass(frozen=True, slots=True, eq=False)
class GapCurve:
    """The gap of one auxiliary sequence over time; P points.

    Attributes:
        sequence: Its name.
        time_s: (P,) s.
        rms: (P,) root mean square over replicates.
        peak: Largest of them, the measured B.
        time_average: Root of the mean over time and replicates of the squared gap.
        bound: The bound of B.
        bound_name: The theorem.
    """

    sequence: str
    time_s: np.ndarray
    rms: np.ndarray
    peak: float
    time_average: float
    bound: float
    bound_name: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Certification:
    """What the theorems say about one contender.

    Attributes:
        contender: Who was measured.
        step_size: At which step size.
        values: Every symbol of the bounds in numbers.
        gaps: Gap over time for the started and the applied sequence.
        verdicts: One for each theorem, together at the error rate.
        informative: Whether each bound lies below the largest value that is possible anyway.
        steps: Largest step size that each theorem allows.
        farthest: Largest distance of any model of any replicate from the minimiser, in units
            of the distance of the start.
        radius: Of the ball on which the constants hold, in the same units.
        error_rate: Of all verdicts together.
        replicates: Number of replicates.
        jobs: Gradients of each.
        digest: Of the schedule.
        diverged: Where the measured run left the finite numbers; then nothing is judged, and the
            gaps are those until then.
    """

    contender: str
    step_size: float
    values: dict[str, float]
    gaps: tuple[GapCurve, ...]
    verdicts: tuple[Verdict, ...]
    informative: tuple[bool, ...]
    steps: tuple[CertifiedStep, ...]
    farthest: float
    radius: float
    error_rate: float
    replicates: int
    jobs: int
    digest: str
    diverged: Place | None = None


def certify(
    study: Study,
    contender: Contender,
    schedule: Schedule,
    step_size: float,
    progress: Progress | None = None,
) -> Certification:
    """Measure `contender` on `schedule` and judge what was measured.

    Args:
        study: Problem and certificate.
        contender: Rule and codec.
        schedule: Of the contender; see `obstacle` for those that are refused.
        step_size: Step size.
        progress: Who wants to know how far it is.

    Raises:
        ValueError: If the bounds do not speak about it.
    """
    certificate = study.certificate or Certificate()
    reason = obstacle(contender, schedule)
    if reason:
        raise ValueError(f"certify does not apply: {reason}.")
    limits = limits_of(study.oracle, certificate.radius)
    rule = with_step_size(contender.rule, step_size)
    probes = (StartedSequence(), AppliedSequence(every=_MOST_JOBS), FarthestModel())
    seeds = certificate.sample_seeds
    told = progress or Progress()
    measured, diverged = judged_run(study, schedule, rule, probes, seeds=seeds, progress=told)
    values, verdicts = _values(schedule, limits, step_size), ()
    if diverged is None:
        unmet = _unmet(study.oracle.constants(), limits, measured, constant=rule.constant_step)
        claims = _claims(measured, values, limits, unmet)
        verdicts = judge_all(claims, error_rate=certificate.error_rate)
    ceilings = limits.ceilings(values)
    return Certification(
        contender=contender.name,
        step_size=step_size,
        values=values,
        gaps=_gap_curves(measured, values),
        verdicts=verdicts,
        informative=tuple(
            v.bound_value is not None and v.bound_value < ceilings[v.bound] for v in verdicts
        ),
        steps=_steps(values, ceilings),
        farthest=math.inf if diverged else _farthest(measured) / limits.start_distance,
        radius=certificate.radius,
        error_rate=certificate.error_rate,
        replicates=certificate.replicates,
        jobs=len(schedule.jobs),
        digest=measured.digest,
        diverged=diverged,
    )


def obstacle(contender: Contender, schedule: Schedule) -> str:
    """Why the bounds of this file do not speak about a contender; "" if they do."""
    if schedule.metadata.hosts != (SERVER,):
        return "the bounds used here speak of one replica, on the server"
    if not bool((schedule.jobs.share == 1).all()):
        return "the bounds used here need every gradient to be applied, in full"
    if not isinstance(contender.rule, SGD) or not isinstance(contender.codec, Identity):
        return "the bounds used here speak of plain SGD without compression"
    if len(schedule.jobs) > _MOST_JOBS:
        return f"a certificate keeps every point, so Certificate.jobs is at most {_MOST_JOBS}"
    return ""


def _values(schedule: Schedule, limits: Limits, step_size: float) -> dict[str, float]:
    constants = limits.constants
    in_flight = int(schedule.in_flight().max(initial=0))
    moment = constants.second_moment**0.5
    return {
        "alpha": step_size,
        "L": constants.smoothness,
        "c": constants.strong_convexity,
        "sigma": constants.variance**0.5,
        "M": moment,
        "B": in_flight * moment,
        "T": len(schedule.jobs),
        "Delta": limits.start_excess,
        "R0": limits.start_distance,
        "n": schedule.metadata.n_workers,
        "c_jobs": in_flight,
        "tau_max": int(schedule.staleness().steps.max(initial=0)),
    }


def _unmet(
    everywhere: Constants, limits: Limits, measured: Measurement, *, constant: bool
) -> frozenset[Requirement]:
    """Requirements that this run is known not to meet."""
    unmet = set() if constant else {Requirement.CONSTANT_STEP_SIZE}
    if _farthest(measured) > limits.radius:
        unmet |= {Requirement.SECOND_MOMENT, Requirement.VARIANCE, Requirement.ELASTIC}
    if everywhere.heterogeneity > 0:
        unmet.add(Requirement.UNBIASED)
    if everywhere.strong_convexity <= 0:
        unmet.add(Requirement.STRONGLY_CONVEX)
    return frozenset(unmet)


def _farthest(measured: Measurement) -> float:
    views = measured["farthest_squared_distance"].last.max()
    auxiliary = measured["squared_distance_started"].values.max()
    return float(max(views, auxiliary) ** 0.5)


def _claims(
    measured: Measurement,
    values: dict[str, float],
    limits: Limits,
    unmet: frozenset[Requirement],
) -> list[Claim]:
    return [
        gap_claim(measured["gap_started"], get("server_started_gap"), values, limits, unmet),
        gap_claim(measured["gap_applied"], get("server_applied_gap"), values, limits, unmet),
        *theorem_claims(measured, values, limits, unmet),
    ]


def _gap_curves(measured: Measurement, values: dict[str, float]) -> tuple[GapCurve, ...]:
    return tuple(
        _gap_curve(measured, name, f"server_{name}_gap", values) for name in ("started", "applied")
    )


def _gap_curve(measured: Measurement, name: str, bound: str, values: dict[str, float]) -> GapCurve:
    trace = measured[f"gap_{name}"]
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
        squares = (trace.values**2).mean(axis=1)
    return GapCurve(
        sequence=name,
        time_s=trace.time,
        rms=np.sqrt(squares),
        peak=trace.peak,
        time_average=float(np.sqrt(squares.mean())),
        bound=get(bound).evaluate(values),
        bound_name=bound,
    )


def _steps(values: dict[str, float], ceilings: dict[str, float]) -> tuple[CertifiedStep, ...]:
    names = ("strongly_convex_single_step", "nonconvex_single_step")
    without = {name: value for name, value in values.items() if name != "alpha"}
    return tuple(certified_step(get(name), without, ceiling=ceilings[name]) for name in names)
