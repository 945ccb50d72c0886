"""What slows a contender down: the same delays with one cause taken away at a time."""

from dataclasses import dataclass, replace
from math import isfinite
from typing import final

import numpy as np

from elastic_consistency.simulator import Cluster, Link, Worker
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.studies.finished_work import FinishedWork
from elastic_consistency.studies.runs import schedule_of
from elastic_consistency.studies.study import Contender, Study
from elastic_consistency.validation import Estimate, mean_over_timing, saving


@final
@dataclass(frozen=True, slots=True)
class WhatIf:
    """One cause taken away.

    Attributes:
        cause: What is taken away; "as it is" for the cluster itself.
        seconds: Seconds of a run of fixed length.
        gain: Share of the time that is saved, paired by schedule; None for the cluster itself.
    """

    cause: str
    seconds: Estimate
    gain: Estimate | None


def what_if(study: Study, contender: Contender) -> tuple[WhatIf, ...]:
    """Seconds of a run as it is, and with each cause of waiting taken away alone."""
    base = _seconds(study, contender)
    rows = [WhatIf("as it is", _mean(study, base), None)]
    for cause, cluster in _without(study.cluster):
        seconds = _seconds(replace(study, cluster=cluster), contender)
        gain = saving(seconds, base, confidence=study.confidence, seed=study.seeds.timing[0])
        rows.append(WhatIf(cause, _mean(study, seconds), gain))
    return tuple(rows)


def slowest_worker(cluster: Cluster) -> int:
    """The worker with the largest mean computation time."""
    return int(np.argmax([worker.mean_seconds() for worker in cluster.workers]))


def slowest_link(cluster: Cluster) -> int:
    """The worker whose two links to the server are slowest on average, for empty messages."""
    return int(np.argmax([_link_seconds(worker) for worker in cluster.workers]))


def _link_seconds(worker: Worker) -> float:
    return worker.uplink.mean_seconds(0.0) + worker.downlink.mean_seconds(0.0)


def _without(cluster: Cluster) -> list[tuple[str, Cluster]]:
    workers = cluster.workers
    order = np.argsort([worker.mean_seconds() for worker in workers], kind="stable")
    median, slow = workers[int(order[(len(order) - 1) // 2])], slowest_worker(cluster)
    like_median = replace(workers[slow], compute=median.compute, slowdown=median.slowdown)
    swapped = (*workers[:slow], like_median, *workers[slow + 1 :])
    causes = [(f"worker {slow} as fast as the median", replace(cluster, workers=swapped))]
    if all(isfinite(worker.compute.mean()) for worker in workers):
        steady = tuple(replace(w, compute=Constant(w.compute.mean())) for w in workers)
        causes.append(("no variation of computation times", replace(cluster, workers=steady)))
    return [
        *causes,
        ("links without jitter", _with_links(cluster, _without_jitter)),
        ("links that cost nothing", _with_links(cluster, lambda _: Link())),
    ]


def _with_links(cluster: Cluster, change) -> Cluster:
    workers = tuple(
        replace(w, uplink=change(w.uplink), downlink=change(w.downlink)) for w in cluster.workers
    )
    peers = tuple(replace(peer, link=change(peer.link)) for peer in cluster.exceptions)
    return replace(cluster, workers=workers, fabric=change(cluster.fabric), exceptions=peers)


def _without_jitter(link: Link) -> Link:
    return replace(link, jitter=Constant(0.0))


def _seconds(study: Study, contender: Contender) -> np.ndarray:
    """(S,) duration of a run on each schedule, s."""
    unkept = replace(study, finished=FinishedWork())  # of a schedule only its length is of use

    def simulated() -> dict[str, np.ndarray]:
        schedules = (schedule_of(unkept, contender, seed) for seed in study.seeds.timing)
        return {"seconds": np.array([float(schedule.rows.time[-1]) for schedule in schedules])}

    depends_on = (study.cluster, contender, study.payload, study.operations_per_s)
    more = (study.oracle.dimension, study.seeds.timing)
    return study.finished.arrays((*depends_on, *more), simulated)["seconds"]


def _mean(study: Study, seconds: np.ndarray) -> Estimate:
    return mean_over_timing(
        seconds[:, None], confidence=study.confidence, seed=study.seeds.timing[0]
    )
