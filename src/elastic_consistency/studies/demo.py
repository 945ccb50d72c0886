"""The demonstration: sixteen workers, one straggler, a jittery network, real data."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.optimization.oracles import Dataset, LogisticRegression
from elastic_consistency.simulator import Cluster, Link, Tree, Worker
from elastic_consistency.simulator.delays import Exponential, LogNormal, TransientStraggler
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.studies.files.problems import SHIPPED
from elastic_consistency.studies.study import Certificate, Contender, Seeds, Study


@final
@dataclass(frozen=True, slots=True)
class DemoSettings:
    """What a visitor may change.

    Attributes:
        data: "breast_cancer", "digits" or "mnist".
        workers: Number of workers, >= 2; worker 0 is the straggler.
        slowdown: How many times slower the straggler is, >= 1.
        target: Loss to be reached, as a share of the way that is left, in (0, 1).
        schedules: Timing seeds, >= 2.
        replicates: Sample seeds of each schedule, >= 1.
        judged: Replicates of the run that is judged, >= 2.
        seed: First timing seed, >= 0.
        rounds: Rounds of the synchronous contender, >= 1; the other one gets as many gradients.
    """

    data: str = "breast_cancer"
    workers: int = 16
    slowdown: float = 10.0
    target: float = 0.01
    schedules: int = 12
    replicates: int = 16
    judged: int = 256
    seed: int = 0
    rounds: int = 96

    def __post_init__(self) -> None:
        check(self.data in SHIPPED, self, "data", f"one of {', '.join(SHIPPED)}")
        check(self.workers >= 2, self, "workers", "a number of workers >= 2")
        check(1 <= self.slowdown < float("inf"), self, "slowdown", "a finite number >= 1")
        check(0 < self.target < 1, self, "target", "a share in (0, 1)")
        check(self.schedules >= 2, self, "schedules", "a number of timing seeds >= 2")
        check(self.replicates >= 1, self, "replicates", "a number of replicates >= 1")
        check(self.judged >= 2, self, "judged", "a number of replicates >= 2")
        check(self.seed >= 0, self, "seed", "a seed >= 0")
        check(self.rounds >= 1, self, "rounds", "a number of rounds >= 1")


def demo_study(settings: DemoSettings) -> Study:
    """The study of the demonstration."""
    data = SHIPPED[settings.data]()
    jobs = settings.rounds * settings.workers
    # A look at ten classes costs as much as hundreds of steps.
    every = settings.workers if data.n_classes > 2 else max(1, settings.workers // 4)
    asynchronous = Contender("asynchronous", AsynchronousServer(), jobs, loss_every=every)
    tuning = range(settings.seed + 1000, settings.seed + 1003)
    return Study(
        name="demo",
        cluster=demo_cluster(settings.workers, settings.slowdown),
        oracle=demo_problem(data),
        contenders=(asynchronous, Contender("synchronous", AllReduce(Tree()), jobs)),
        data=data.name,
        target=settings.target,
        seeds=Seeds(
            timing=tuple(range(settings.seed, settings.seed + settings.schedules)),
            tuning=tuple(tuning),
            replicates=settings.replicates,
        ),
        certificate=replace(
            Certificate(),
            jobs=min(jobs, Certificate().jobs),
            replicates=settings.judged,
            timing_seed=settings.seed,
        ),
    )


def demo_cluster(workers: int, slowdown: float) -> Cluster:
    """Equal workers but for one, on links of 5 ms plus exponential jitter of mean 5 ms.

    A gradient takes 0.1 s in the median. Worker 0 takes `slowdown` times as long, and three
    times longer still in phases of 1 s that come every 4 s on average.
    """
    work = LogNormal(median=0.1, log_deviation=0.25)
    link = Link(latency_s=0.005, jitter=Exponential(0.005))
    phases = TransientStraggler(work, 3.0, normal=Exponential(3.0), slow=Exponential(1.0))
    straggler = Worker(phases, slowdown=slowdown, uplink=link, downlink=link)
    others = (Worker(work, uplink=link, downlink=link),) * (workers - 1)
    return Cluster((straggler, *others), fabric=link)


def demo_problem(
    data: Dataset, *, batch: int = 4, ridge: float = 0.01, unit_length: bool = True
) -> LogisticRegression:
    """Logistic regression on real data.

    Args:
        data: The data.
        batch: Samples a gradient.
        ridge: Weight of the ridge term.
        unit_length: Scale every sample to length 1, so that no outlier dominates the constants
            of the theorems.
    """
    features = data.features
    if unit_length:
        features = features / np.linalg.norm(features, axis=1, keepdims=True)
    return LogisticRegression(features, data.labels, data.n_classes, batch=batch, ridge=ridge)
