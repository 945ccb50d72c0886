"""Constants for a real system, each with the reason that it was given."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.optimization.oracles import Constants
from elastic_consistency.simulator import Cluster, Payload
from elastic_consistency.studies.comparison.contenders import ContenderResult
from elastic_consistency.studies.comparison.durations import computation_quantile
from elastic_consistency.studies.comparison.what_if import link_seconds
from elastic_consistency.studies.judging.limits import limits_of
from elastic_consistency.studies.study import Certificate, Study

_SHARE_OF_LINKS = 0.1  # of the time of a worker that exchanges once in a window


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A constant to paste into a study or a real system.

    Attributes:
        name: What it sets.
        value: Its value.
        reason: How it was found.
    """

    name: str
    value: float
    reason: str


def settings_to_paste(study: Study, results: tuple[ContenderResult, ...]) -> tuple[Setting, ...]:
    """Staleness bound, deadline, communication window, beta and step sizes.

    Args:
        study: The first contender waits for nobody, the last one is the baseline.
        results: One a contender.
    """
    deadline = computation_quantile(study, study.contenders[-1], 0.95)
    beta = norm_threshold(_constants(study), study.cluster.n_workers)
    stale = results[0].staleness.p99
    return (
        Setting("staleness bound [steps]", stale, "99th percentile when nobody waits"),
        Setting("deadline of a gradient [s]", deadline, "95th percentile of all computations"),
        Setting(
            "communication window [gradients]",
            communication_window(study.cluster, study.payload),
            f"the links then take {_SHARE_OF_LINKS:.0%} of a worker's time",
        ),
        Setting(
            "beta of the norm-bounded scheduler",
            beta,
            f"{'' if beta else 'without any waiting '}its gap is at most a gradient's noise, sigma",
        ),
        *(
            Setting(f"step size, {result.name}", result.step_size, "fastest of those tried")
            for result in results
        ),
    )


def _constants(study: Study) -> Constants:
    """On the ball where the study is judged; everywhere if it has no known centre."""
    if study.oracle.minimiser() is None:
        return study.oracle.constants()
    return limits_of(study.oracle, (study.certificate or Certificate()).radius).constants


def communication_window(cluster: Cluster, payload: Payload) -> float:
    """Gradients between two exchanges so that links take a tenth of the time; the worst worker.

    H gradients of c seconds and one exchange of s seconds: s <= share (H c + s).
    """
    allowed = (1 - _SHARE_OF_LINKS) / _SHARE_OF_LINKS
    windows = []
    for worker in cluster.workers:
        exchange = link_seconds(worker, payload)
        computing = worker.mean_seconds() + payload.encode_s
        windows.append(allowed * exchange / computing if math.isfinite(computing) else 0.0)
    return max(1.0, float(np.ceil(max(windows) * (1 - 1e-12))))


def norm_threshold(constants: Constants, n_workers: int) -> float:
    """The smallest beta with sqrt(1 - beta^2) M (p - 1) / p <= sigma; 0 if every beta will do."""
    whole = constants.second_moment**0.5 * (n_workers - 1) / n_workers
    sigma = constants.variance**0.5
    return 0.0 if whole <= sigma else (1 - (sigma / whole) ** 2) ** 0.5
