"""The first contender against the theorems: what is measured, what is promised, and a verdict."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.bounds import Bound
from elastic_consistency.execution import Measurement
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.comparison.divergence import Place
from elastic_consistency.studies.comparison.runs import with_step_size
from elastic_consistency.studies.judging.agenda import Agenda, Measured, agenda_of
from elastic_consistency.studies.judging.certified_step import CertifiedStep, certified_step
from elastic_consistency.studies.judging.claims import (
    ceilings,
    mean_over_nodes,
    squared_gaps,
    verdicts_of,
)
from elastic_consistency.studies.judging.farthest import FarthestModel
from elastic_consistency.studies.judging.judged_run import judged_run
from elastic_consistency.studies.judging.requirements_met import unmet
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Certificate, Contender, Study
from elastic_consistency.validation import Verdict


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
        gaps: Each gap over time, beside the smallest bound of it.
        verdicts: One for each bound, together at the error rate.
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
    rule = with_step_size(contender.rule, step_size)
    agenda = agenda_of(study, contender, schedule, rule.auxiliary_step_size)
    if isinstance(agenda, str):
        raise ValueError(f"certify does not apply: {agenda}.")
    certificate = study.certificate or Certificate()
    told, seeds = progress or Progress(), certificate.sample_seeds
    probes = (*agenda.probes, FarthestModel())
    measured, diverged = judged_run(
        study, schedule, rule, contender.codec, probes, seeds=seeds, progress=told
    )
    farthest, verdicts = _farthest(measured, agenda), ()
    if diverged is None:
        missing = unmet(agenda.situation, farthest)
        verdicts = verdicts_of(agenda, measured, missing, error_rate=certificate.error_rate)
    return Certification(
        contender=contender.name,
        step_size=step_size,
        values=_named(agenda),
        gaps=_gap_curves(measured, agenda),
        verdicts=verdicts,
        informative=tuple(_says_something(verdict, agenda) for verdict in verdicts),
        steps=_largest_steps(agenda),
        farthest=math.inf if diverged else farthest / agenda.situation.limits.start_distance,
        radius=certificate.radius,
        error_rate=certificate.error_rate,
        replicates=certificate.replicates,
        jobs=len(schedule.jobs),
        digest=measured.digest,
        diverged=diverged,
    )


def obstacle(study: Study, contender: Contender, schedule: Schedule) -> str:
    """Why the bounds of a study do not speak about a contender; "" if they do."""
    agenda = agenda_of(study, contender, schedule)
    return agenda if isinstance(agenda, str) else ""


def _named(agenda: Agenda) -> dict[str, float]:
    """The numbers that some bound of the agenda asks for."""
    asked = {symbol.name for bound in agenda.bounds for symbol in bound.symbols}
    return {name: value for name, value in agenda.values.items() if name in asked}


def _says_something(verdict: Verdict, agenda: Agenda) -> bool:
    """Whether the bound is below what is possible anyway."""
    if verdict.bound_value is None:
        return False
    (bound,) = (bound for bound in agenda.bounds if bound.name == verdict.bound)
    if bound.quantity is not Quantity.GAP:
        return verdict.bound_value < agenda.situation.limits.ceiling(bound.quantity)
    return verdict.bound_value < min(ceilings(agenda, agenda.measured(bound)), default=math.inf)


def _farthest(measured: Measurement, agenda: Agenda) -> float:
    views = measured["farthest_squared_distance"].last.max()
    auxiliary = measured[f"squared_distance_{agenda.own_order}"].values.max()
    return float(max(views, auxiliary) ** 0.5)


def _gap_curves(measured: Measurement, agenda: Agenda) -> tuple[GapCurve, ...]:
    tightest = agenda.tightest(unmet(agenda.situation, 0.0))
    return tuple(_gap_curve(measured, agenda, *pair) for pair in tightest.items())


def _gap_curve(measured: Measurement, agenda: Agenda, what: Measured, bound: Bound) -> GapCurve:
    trace, rounds = measured[what.trace], agenda.situation.schedule.jobs.round
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
        squares = squared_gaps(trace, rounds, over_nodes=what.over_nodes)
        time = trace.time
        if what.over_nodes:
            time = mean_over_nodes(time[:, None], rounds[trace.position])[:, 0]
        mean = squares.mean(axis=1)
    order = np.argsort(time, kind="stable")  # a fast worker may be rounds ahead
    return GapCurve(
        sequence=bound.sequence.value,
        time_s=time[order],
        rms=np.sqrt(mean[order]),
        peak=float(np.sqrt(mean.max(initial=0.0))) if what.over_nodes else trace.peak,
        time_average=float(np.sqrt(mean.mean())),
        bound=bound.evaluate(agenda.values),
        bound_name=bound.name,
    )


def _largest_steps(agenda: Agenda) -> tuple[CertifiedStep, ...]:
    """Of each proved theorem that asks for a step size and for nothing that is not met."""
    without = {name: value for name, value in agenda.values.items() if name != "alpha"}
    theorems = (b for b in agenda.bounds if b.quantity is not Quantity.GAP and b.proof is not None)
    return tuple(
        certified_step(bound, without, ceiling=agenda.situation.limits.ceiling(bound.quantity))
        for bound in theorems
        if not bound.requirements & unmet(agenda.situation, 0.0)
        if "alpha" in {symbol.name for symbol in bound.symbols}
    )
