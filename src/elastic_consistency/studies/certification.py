"""The first contender against the theorems: what is measured, what is promised, and a verdict."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.bounds import Requirement, get
from elastic_consistency.execution import Measurement
from elastic_consistency.execution.probes.base import AbstractProbe
from elastic_consistency.optimization.oracles import AbstractOracle, Constants
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.certified_step import CertifiedStep, certified_step
from elastic_consistency.studies.claims import (
    Limits,
    gap_claim,
    limits_of,
    mean_over_nodes,
    theorem_claims,
)
from elastic_consistency.studies.divergence import Place
from elastic_consistency.studies.elastic_families import Family, GapBound, Values, family_of
from elastic_consistency.studies.farthest import FarthestModel
from elastic_consistency.studies.judged_run import judged_run
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.runs import with_step_size
from elastic_consistency.studies.study import Certificate, Contender, Study
from elastic_consistency.validation import Claim, Verdict, judge_all


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
    family = family_of(contender, schedule, certificate.bounds)
    if isinstance(family, str):
        raise ValueError(f"certify does not apply: {family}.")
    limits = limits_of(study.oracle, certificate.radius)
    rule = with_step_size(contender.rule, step_size)
    told, seeds = progress or Progress(), certificate.sample_seeds
    measured, diverged = judged_run(
        study, schedule, rule, contender.codec, _probes(family), seeds=seeds, progress=told
    )
    values = values_of(family, limits, rule.auxiliary_step_size, study.oracle)
    rounds = schedule.jobs.round
    farthest, verdicts = _farthest(measured, family), ()
    if diverged is None:
        unmet = _unmet(study.oracle.constants(), limits, farthest, constant=rule.constant_step)
        claims = _claims(measured, family, values, limits, unmet, rounds)
        verdicts = judge_all(claims, error_rate=certificate.error_rate)
    return Certification(
        contender=contender.name,
        step_size=step_size,
        values=values,
        gaps=tuple(_gap_curve(measured, gap, values, rounds) for gap in family.gaps),
        verdicts=verdicts,
        informative=tuple(_says_something(verdict, limits, values) for verdict in verdicts),
        steps=tuple(_largest_step(name, values, limits) for name in family.theorems),
        farthest=math.inf if diverged else farthest / limits.start_distance,
        radius=certificate.radius,
        error_rate=certificate.error_rate,
        replicates=certificate.replicates,
        jobs=len(schedule.jobs),
        digest=measured.digest,
        diverged=diverged,
    )


def _probes(family: Family) -> tuple[AbstractProbe, ...]:
    return (*family.probes, FarthestModel())


def _says_something(verdict: Verdict, limits: Limits, values: Values) -> bool:
    """Whether the bound is below what is possible anyway."""
    ceiling = limits.ceiling(get(verdict.bound), values)
    return verdict.bound_value is not None and verdict.bound_value < ceiling


def obstacle(study: Study, contender: Contender, schedule: Schedule) -> str:
    """Why the bounds of a study do not speak about a contender; "" if they do."""
    if study.oracle.minimiser() is None:
        return "the constants hold on a ball around the minimiser, which is not known"
    bounds = study.certificate.bounds if study.certificate else ()
    family = family_of(contender, schedule, bounds)
    return family if isinstance(family, str) else ""


def values_of(family: Family, limits: Limits, step_size: float, oracle: AbstractOracle) -> Values:
    """Every symbol of the bounds of a family in numbers."""
    constants = limits.constants
    moment = constants.second_moment**0.5
    values = {
        "alpha": step_size,
        "L": constants.smoothness,
        "c": constants.strong_convexity,
        "sigma": constants.variance**0.5,
        "M": moment,
        "T": family.steps,
        "Delta": limits.start_excess,
        "R0": limits.start_distance,
    } | family.constants(moment, oracle.dimension)
    return values | {"B": get(family.elastic).evaluate(values)}


def _unmet(
    everywhere: Constants, limits: Limits, farthest: float, *, constant: bool
) -> frozenset[Requirement]:
    """Requirements that this run is known not to meet."""
    unmet = set() if constant else {Requirement.CONSTANT_STEP_SIZE}
    if farthest > limits.radius:
        unmet |= {Requirement.SECOND_MOMENT, Requirement.VARIANCE, Requirement.ELASTIC}
    if everywhere.heterogeneity > 0:
        unmet.add(Requirement.UNBIASED)
    if everywhere.strong_convexity <= 0:
        unmet.add(Requirement.STRONGLY_CONVEX)
    return frozenset(unmet)


def _farthest(measured: Measurement, family: Family) -> float:
    views = measured["farthest_squared_distance"].last.max()
    auxiliary = measured[f"squared_distance_{family.sequence}"].values.max()
    return float(max(views, auxiliary) ** 0.5)


def _claims(
    measured: Measurement,
    family: Family,
    values: Values,
    limits: Limits,
    unmet: frozenset[Requirement],
    rounds: np.ndarray,
) -> list[Claim]:
    gaps = (
        gap_claim(measured[f"gap_{gap.sequence}"], gap, values, limits, unmet, rounds=rounds)
        for gap in family.gaps
    )
    return [*gaps, *theorem_claims(measured, family, values, limits, unmet)]


def _gap_curve(
    measured: Measurement, gap: GapBound, values: Values, rounds: np.ndarray
) -> GapCurve:
    trace = measured[f"gap_{gap.sequence}"]
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
        squares, time = trace.values**2, trace.time
        if gap.over_nodes:
            time = mean_over_nodes(time[:, None], rounds[trace.position])[:, 0]
            squares = mean_over_nodes(squares, rounds[trace.position])
        mean = squares.mean(axis=1)
    order = np.argsort(time, kind="stable")  # a fast worker may be rounds ahead
    return GapCurve(
        sequence=get(gap.name).sequence.value,
        time_s=time[order],
        rms=np.sqrt(mean[order]),
        peak=float(np.sqrt(mean.max(initial=0.0))) if gap.over_nodes else trace.peak,
        time_average=float(np.sqrt(mean.mean())),
        bound=get(gap.name).evaluate(values),
        bound_name=gap.name,
    )


def _largest_step(name: str, values: Values, limits: Limits) -> CertifiedStep:
    without = {symbol: value for symbol, value in values.items() if symbol != "alpha"}
    return certified_step(get(name), without, ceiling=limits.ceiling(get(name), values))
