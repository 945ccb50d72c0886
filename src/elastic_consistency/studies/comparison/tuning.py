"""Which step size each contender gets: the fastest of the candidates, on seeds of its own."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.studies.comparison.runs import LossRun, run_loss, schedule_of
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Contender, Study


@final
@dataclass(frozen=True, slots=True)
class Candidate:
    """One step size that was tried.

    Attributes:
        step_share: Step size in units of 1 / L.
        step_size: Step size.
        reached: Runs that reached the target.
        runs: Runs.
        mean_time_s: Mean seconds to the target; infinite unless all reached it.
        mean_last_loss: Mean loss at the last look; infinite if a run diverged.
    """

    step_share: float
    step_size: float
    reached: int
    runs: int
    mean_time_s: float
    mean_last_loss: float


def tune(study: Study, contender: Contender, progress: Progress) -> tuple[Candidate, ...]:
    """All candidates, the best first: fastest, else most often there, else lowest in the end."""
    smoothness = study.oracle.constants().smoothness
    tried = []
    for number, share in enumerate(study.step_shares):
        progress.say(f"step size of {contender.name}", number / len(study.step_shares))
        runs = [
            run_loss(
                study,
                contender,
                schedule_of(study, contender, seed, share / smoothness),
                share / smoothness,
                sample_seeds=study.samples(contender, seed),
                stop_at_target=True,
            )
            for seed in study.seeds.tuning
        ]
        tried.append(_candidate(share, share / smoothness, runs))
    return tuple(sorted(tried, key=lambda c: (c.mean_time_s, -c.reached, c.mean_last_loss)))


def _candidate(share: float, step_size: float, runs: list[LossRun]) -> Candidate:
    times = np.concatenate([run.reached_s for run in runs])
    finite = all(run.diverged is None for run in runs)
    last = float(np.mean([run.loss[-1].mean() for run in runs])) if finite else np.inf
    reached = int(np.isfinite(times).sum())
    mean = float(times.mean()) if reached == len(times) else np.inf
    return Candidate(share, step_size, reached, len(times), mean, last)
