"""How long things take on the schedules of a study."""

import numpy as np

from elastic_consistency.schedule import Op
from elastic_consistency.studies.comparison.runs import schedule_of
from elastic_consistency.studies.study import Contender, Study


def seconds_per_gradient(study: Study, contender: Contender) -> np.ndarray:
    """(S,) seconds of a run divided by the gradients that it used, one a timing seed."""
    figures = []
    for seed in study.seeds.timing:
        schedule = schedule_of(study, contender, seed)
        used = int((schedule.jobs.share != 0).sum())
        figures.append(float(schedule.rows.time[-1]) / used)
    return np.array(figures)


def computation_quantile(study: Study, contender: Contender, level: float) -> float:
    """The `level` quantile of the seconds of all computations of all schedules."""
    lengths = []
    for seed in study.seeds.timing:
        schedule = schedule_of(study, contender, seed)
        rows = schedule.rows
        encoded = np.flatnonzero(rows.op == Op.ENCODE)
        lengths.append(rows.time[encoded] - schedule.jobs.begin[rows.job[encoded]])
    return float(np.nanquantile(np.concatenate(lengths), level))
