"""The comparison: every contender on the same delays and the same samples."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.comparison.curves import Band, band_over_gradients, band_over_time
from elastic_consistency.studies.comparison.divergence import Divergence, divergences_of
from elastic_consistency.studies.comparison.runs import LossRun, run_loss, schedule_of
from elastic_consistency.studies.comparison.tuning import Candidate, tune
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Contender, Study
from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary, summarise
from elastic_consistency.studies.summaries.staleness_figures import (
    StalenessFigures,
    staleness_figures,
)
from elastic_consistency.validation import Estimate, mean_over_timing


@final
@dataclass(frozen=True, slots=True, eq=False)
class ContenderResult:
    """What one contender did; S schedules, R replicates on each.

    Attributes:
        name: Its name.
        algorithm: Protocol, rule and codec in words.
        step_size: The step size that was chosen for it.
        step_share: The same in units of 1 / L.
        candidates: All step sizes that were tried, the best first.
        time_s: Seconds to the target; None unless every run reached it.
        reached: Runs that reached the target.
        runs: Runs, S x R.
        times_s: (S, R) seconds to the target; infinity where it was not reached.
        over_time: Suboptimality against seconds.
        over_gradients: Suboptimality against gradients.
        staleness: Of all updates of all schedules.
        summary: The first schedule in figures.
        digests: Digest of each schedule.
        divergences: Runs that left the finite numbers although the best step size was taken.
    """

    name: str
    algorithm: str
    step_size: float
    step_share: float
    candidates: tuple[Candidate, ...]
    time_s: Estimate | None
    reached: int
    runs: int
    times_s: np.ndarray
    over_time: Band
    over_gradients: Band
    staleness: StalenessFigures
    summary: ScheduleSummary
    digests: tuple[str, ...]
    divergences: tuple[Divergence, ...] = ()


def compare(study: Study, progress: Progress) -> tuple[tuple[ContenderResult, Schedule], ...]:
    """Every contender's result, with its schedule for the first timing seed."""
    count = len(study.contenders)
    return tuple(
        _run_contender(study, contender, progress.part(number / count, (number + 1) / count))
        for number, contender in enumerate(study.contenders)
    )


def _run_contender(
    study: Study, contender: Contender, progress: Progress
) -> tuple[ContenderResult, Schedule]:
    candidates = tune(study, contender, progress.part(0.0, 0.5))
    chosen = candidates[0]
    schedules, runs = [], []
    for number, seed in enumerate(study.seeds.timing):
        progress.say(f"running {contender.name}", 0.5 + 0.5 * number / len(study.seeds.timing))
        schedules.append(schedule_of(study, contender, seed, chosen.step_size))
        samples = study.samples(contender, seed)
        run = run_loss(study, contender, schedules[-1], chosen.step_size, sample_seeds=samples)
        runs.append(run)
    return _result(study, contender, candidates, schedules, runs), schedules[0]


def _result(
    study: Study,
    contender: Contender,
    candidates: tuple[Candidate, ...],
    schedules: list[Schedule],
    runs: list[LossRun],
) -> ContenderResult:
    times = np.stack([run.reached_s for run in runs])
    infimum = study.infimum()
    return ContenderResult(
        name=contender.name,
        algorithm=" x ".join(
            _name(part) for part in (contender.protocol, contender.rule, contender.codec)
        ),
        step_size=candidates[0].step_size,
        step_share=candidates[0].step_share,
        candidates=candidates,
        time_s=_mean_time(study, times),
        reached=int(np.isfinite(times).sum()),
        runs=times.size,
        times_s=times,
        over_time=band_over_time(runs, infimum),
        over_gradients=band_over_gradients(runs, infimum),
        staleness=staleness_figures(
            schedules, confidence=study.confidence, seed=study.seeds.timing[0]
        ),
        summary=summarise(schedules[0]),
        digests=tuple(schedule.digest() for schedule in schedules),
        divergences=divergences_of(study.seeds.timing, runs),
    )


def _mean_time(study: Study, times: np.ndarray) -> Estimate | None:
    if not np.isfinite(times).all():
        return None
    return mean_over_timing(times, confidence=study.confidence, seed=study.seeds.timing[0])


def _name(part: Any) -> str:
    return type(part).__name__
