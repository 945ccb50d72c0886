"""The usual ways to relax consistency, on the cluster and the problem of a study."""

from dataclasses import replace

from elastic_consistency.optimization.update_rules import DynSGD
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousServer,
    BackupWorkers,
    BoundedStaleness,
    Ringmaster,
)
from elastic_consistency.studies.study import Contender, Study


def usual_ways(study: Study) -> Study:
    """The study with the usual ways to relax, and synchronous all-reduce as the baseline."""
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
    baseline = Contender("synchronous", collective, jobs)
    # Savings of several contenders are stated together: the error rate is shared.
    shared = 1 - (1 - study.confidence) / len(few)
    return replace(study, contenders=(*few, baseline), confidence=shared)
