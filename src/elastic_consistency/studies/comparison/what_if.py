"""What slows a contender down: the same delays with one cause taken away at a time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import final

import numpy as np

from elastic_consistency.optimization.compression import Identity
from elastic_consistency.simulator import Cluster, Link, Payload, Worker
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.studies.comparison.runs import schedule_of
from elastic_consistency.studies.judging.agenda import agenda_of
from elastic_consistency.studies.on_disk.finished_work import FinishedWork
from elastic_consistency.studies.study import Certificate, Contender, Study
from elastic_consistency.validation import Estimate, mean_over_timing, saving
from elastic_consistency.validation.what_if import without_losses

Change = Callable[[Cluster, Contender], tuple[Cluster, Contender]]

_STEADY_LINKS, _FREE_LINKS = "links without jitter", "links that cost nothing"
_NOTHING_LOST = "nothing lost"
LINK_CAUSES = (_STEADY_LINKS, _FREE_LINKS, _NOTHING_LOST)

_JUDGED = 400  # gradients after which B is read off; it is the largest of short delays


@final
@dataclass(frozen=True, slots=True)
class WhatIf:
    """One cause taken away.

    Attributes:
        cause: What is taken away; "as it is" for the cluster itself.
        seconds: Seconds of a run of fixed length.
        gain: Share of the time that is saved, paired by schedule; None for the cluster itself.
        gap: B / M of the first contender: the least of the proved bounds of B that speak of it on
            its first schedule; None where none does.
    """

    cause: str
    seconds: Estimate
    gain: Estimate | None
    gap: float | None = None


def what_if(study: Study, contender: Contender) -> tuple[WhatIf, ...]:
    """Seconds of a run and B as they are, and with each cause taken away alone.

    Args:
        study: Cluster, problem and first contender.
        contender: Whose seconds are told.
    """
    first = study.contenders[0]
    base = _seconds(study, contender)
    rows = [WhatIf("as it is", _mean(study, base), None, _gap(study, first))]
    for cause, change in _changes(study.cluster, (first, contender)).items():
        (changed, new_first), (_, new) = (
            change(study.cluster, each) for each in (first, contender)
        )
        other = replace(study, cluster=changed)
        seconds = _seconds(other, new)
        gain = saving(seconds, base, confidence=study.confidence, seed=study.seeds.timing[0])
        rows.append(WhatIf(cause, _mean(study, seconds), gain, _gap(other, new_first)))
    return tuple(rows)


def simulations(study: Study, contender: Contender) -> int:
    """How often `what_if` simulates the contender with each timing seed."""
    return 1 + len(_changes(study.cluster, (study.contenders[0], contender)))


def _changes(cluster: Cluster, contenders: tuple[Contender, ...]) -> dict[str, Change]:
    """What can be taken away, by its name; losses and compression where there are any."""
    changes: dict[str, Change] = {
        cause: lambda _, contender, other=other: (other, contender)
        for cause, other in _without(cluster)
    }
    rest: dict[str, Change] = {_NOTHING_LOST: _lossless, "no compression": _uncompressed}
    return changes | {
        cause: change
        for cause, change in rest.items()
        if any(change(cluster, each) != (cluster, each) for each in contenders)
    }


def _lossless(cluster: Cluster, contender: Contender) -> tuple[Cluster, Contender]:
    safe, protocol = without_losses(cluster, contender.protocol)
    return safe, replace(contender, protocol=protocol)


def _uncompressed(cluster: Cluster, contender: Contender) -> tuple[Cluster, Contender]:
    return cluster, replace(contender, codec=Identity())


def slowest_worker(cluster: Cluster) -> int:
    """The worker with the largest mean computation time."""
    return int(np.argmax([worker.mean_seconds() for worker in cluster.workers]))


def slowest_link(cluster: Cluster, payload: Payload) -> int:
    """The worker whose two links to the server are slowest on average, for what travels."""
    return int(np.argmax([link_seconds(worker, payload) for worker in cluster.workers]))


def link_seconds(worker: Worker, payload: Payload) -> float:
    """Mean time of one exchange with the server, s: an update there and a model back."""
    up = worker.uplink.mean_seconds(payload.update_bytes)
    return up + worker.downlink.mean_seconds(payload.model_bytes)


def _without(cluster: Cluster) -> list[tuple[str, Cluster]]:
    workers = cluster.workers
    order = np.argsort([worker.mean_seconds() for worker in workers], kind="stable")
    median, slow = workers[int(order[(len(order) - 1) // 2])], slowest_worker(cluster)
    like_median = replace(workers[slow], compute=median.compute, slowdown=median.slowdown)
    swapped = (*workers[:slow], like_median, *workers[slow + 1 :])
    causes = [(f"worker {slow} at the median speed", replace(cluster, workers=swapped))]
    if all(isfinite(worker.compute.mean()) for worker in workers):
        steady = tuple(replace(w, compute=Constant(w.compute.mean())) for w in workers)
        causes.append(("constant computation times", replace(cluster, workers=steady)))
    return [
        *causes,
        (_STEADY_LINKS, _with_links(cluster, _without_jitter)),
        (_FREE_LINKS, _with_links(cluster, lambda _: Link())),
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


def _gap(study: Study, contender: Contender) -> float | None:
    """B / M of the contender on its first schedule, as far as a proved bound tells."""
    short = replace(contender, jobs=min(contender.jobs, _JUDGED))
    seed, certificate = study.seeds.timing[0], study.certificate or Certificate()

    def found() -> dict[str, np.ndarray]:
        schedule = schedule_of(replace(study, finished=FinishedWork()), short, seed)
        agenda = agenda_of(
            replace(study, certificate=replace(certificate, bounds=())), short, schedule
        )
        known = {} if isinstance(agenda, str) else agenda.values
        return {"gap": np.array(known.get("B", np.nan) / known.get("M", 1.0))}

    depends_on = (study.cluster, short, study.payload, study.operations_per_s, study.oracle)
    more = (study.step_shares[0], seed, certificate.radius, "gap")
    gap = float(study.finished.arrays((*depends_on, *more), found)["gap"])
    return gap if isfinite(gap) else None


def _mean(study: Study, seconds: np.ndarray) -> Estimate:
    return mean_over_timing(
        seconds[:, None], confidence=study.confidence, seed=study.seeds.timing[0]
    )
