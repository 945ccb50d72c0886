"""The usual ways to relax consistency, on the cluster and the problem of a study."""

from dataclasses import replace

from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.update_rules import DynSGD
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousServer,
    BackupWorkers,
    BoundedStaleness,
    LocalSgd,
    Ringmaster,
)
from elastic_consistency.studies.advice.settings_to_paste import communication_window
from elastic_consistency.studies.study import Contender, Study

_AVERAGES = 10  # of local steps, at least, in a run
_KEPT = 0.1  # share of the numbers of an update that a compressed one keeps


def usual_ways(study: Study) -> Study:
    """The study with the usual ways to relax, and synchronous all-reduce as the baseline.

    Local steps and compression are among them where links take more than a tenth of the time.
    """
    n = study.cluster.n_workers
    jobs = max(contender.jobs for contender in study.contenders)
    collective = next(
        (c.protocol for c in study.contenders if isinstance(c.protocol, AllReduce)), AllReduce()
    )
    every = max(1, n // 4)
    few = [
        Contender("asynchronous", AsynchronousServer(), jobs, loss_every=every),
        Contender("damped", AsynchronousServer(), jobs, rule=DynSGD(1.0), loss_every=every),
        Contender("ringmaster", Ringmaster(2 * n), jobs, loss_every=every),
        Contender("bounded staleness", BoundedStaleness(4.0), jobs, loss_every=every),
    ]
    if n > 1:
        few.append(Contender("one backup worker", BackupWorkers(n - 1), jobs))
        few += _fewer_bytes(study, jobs, every)
    baseline = Contender("synchronous", collective, jobs)
    # Savings of several contenders are stated together: the error rate is shared.
    shared = 1 - (1 - study.confidence) / len(few)
    return replace(study, contenders=(*few, baseline), confidence=shared)


def _fewer_bytes(study: Study, jobs: int, every: int) -> list[Contender]:
    """Ways to send less, if there is anything to gain by it."""
    n, window = study.cluster.n_workers, communication_window(study.cluster, study.payload)
    if window == 1:
        return []
    steps = max(2, min(int(window), jobs // (_AVERAGES * n)))
    codec = ErrorFeedback(TopK(max(1, round(_KEPT * study.oracle.dimension))))
    return [
        Contender(f"{steps} local steps", LocalSgd(steps), jobs),
        Contender("compressed", AsynchronousServer(), jobs, codec=codec, loss_every=every),
    ]
