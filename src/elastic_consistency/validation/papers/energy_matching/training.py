"""Training the paper's network on a simulated cluster: losses and factors pi."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np

from elastic_consistency.execution import (
    DivergenceError,
    Measurement,
    Quantity,
    Sequence,
    Trace,
    execute,
)
from elastic_consistency.execution.probes import AbstractObserver, AbstractProbe
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import LogNormal
from elastic_consistency.simulator.protocols import AsynchronousServer, EnergyMatchingServer
from elastic_consistency.validation.papers.energy_matching.convolutional_network import (
    ConvolutionalNetwork,
)
from elastic_consistency.validation.papers.energy_matching.images import Images, mnist_images

CHANCE = math.log(10)


@final
@dataclass(frozen=True, slots=True)
class Training:
    """One run; a loss above chance counts as ln 10, and so does one that left the numbers.

    Attributes:
        loss: Training loss of the server's model at the end.
        median_factor: Median over coordinates of pi, averaged over the second half of the run.
    """

    loss: float
    median_factor: float


@lru_cache(maxsize=256)
def train(
    n_workers: int,
    rule: AbstractRule,
    steps: int,
    batch: int,
    seed: int,
    *,
    images: Images | None = None,
) -> Training:
    """`steps` steps a worker on MNIST, or on other images."""
    oracle = (images or mnist_images()).network(batch)
    probes = (Factors(),) if rule.needs_view else ()
    measured = descend(oracle, n_workers, rule, steps, seed, probes)
    if measured is None:
        return Training(CHANCE, math.nan)
    median = math.nan
    if rule.needs_view:
        values = measured["median_factor"].values[:, 0]
        median = float(values[len(values) // 2 :].mean())
    return Training(_at_most_chance(oracle.loss(measured.models[0])), median)


def late_loss(n_workers: int, rule: AbstractRule, steps: int, batch: int, seed: int) -> float:
    """Mean training loss over four looks in the last quarter of a run, on every tenth image."""
    images, jobs = mnist_images(), n_workers * steps
    judge = images.part(slice(None, None, 10)).network(batch)
    look = LossOn(judge, every=max(1, jobs // 16), first=3 * jobs // 4)
    measured = descend(images.network(batch), n_workers, rule, steps, seed, (look,))
    return CHANCE if measured is None else _at_most_chance(measured["loss_on"].values)


def descend(
    oracle: ConvolutionalNetwork,
    n_workers: int,
    rule: AbstractRule,
    steps: int,
    seed: int,
    probes: tuple[AbstractProbe, ...],
) -> Measurement | None:
    """`steps` steps a worker with 10 % jitter; None if the run left the numbers.

    A rule that reads views meets the energy matching server. The seed also sets the weights at
    the start, so that methods with equal seeds can be compared in pairs.
    """
    protocol = EnergyMatchingServer(ahead=True) if rule.needs_view else AsynchronousServer()
    cluster = Cluster.alike(n_workers, LogNormal(1.0, 0.1))
    schedule = simulate(protocol, cluster, until=Until(jobs=n_workers * steps), seed=seed)
    start = replace(oracle, seed=seed).start().astype(np.float32)
    try:
        return execute(schedule, oracle, rule, seeds=(seed,), start=start, probes=probes)
    except DivergenceError:
        return None


def _at_most_chance(losses: np.ndarray) -> float:
    # fmin passes over what is no number
    return float(np.fmin(losses, CHANCE).mean())


@final
@dataclass(frozen=True, slots=True)
class LossOn(AbstractProbe):
    """Loss of the server's model on images of one's choice.

    Attributes:
        judge: The network on those images.
        every: Steps of the server from one look to the next, >= 1.
        first: Steps of the server before which nothing is looked at.
    """

    judge: ConvolutionalNetwork
    every: int
    first: int = 0

    @property
    def watches(self):
        return frozenset((Op.STEP,))

    @property
    def needs_view(self):
        return False

    def start(self, context):
        return _LossOnObserver(self)


@final
class _LossOnObserver(AbstractObserver):
    def __init__(self, probe: LossOn) -> None:
        self._probe, self._steps = probe, 0
        self._writer = TraceWriter("loss_on", Quantity.LOSS, Sequence.NONE)

    def open(self, executor):
        return None

    def observe(self, event, executor):
        if event.replica != 0:
            return
        self._steps += 1
        if self._steps > self._probe.first and self._steps % self._probe.every == 0:
            loss = self._probe.judge.loss(np.asarray(executor.model(0)))
            self._writer.add(event.time, self._steps, loss)

    def traces(self) -> tuple[Trace, ...]:
        return (self._writer.finish(),)


@final
@dataclass(frozen=True, slots=True)
class Factors(AbstractProbe):
    """Median over coordinates of pi = sent / gradient, at every `every`-th ENCODE."""

    every: int = 8

    @property
    def watches(self):
        return frozenset((Op.ENCODE,))

    @property
    def needs_view(self):
        return False

    def start(self, context):
        return _FactorsObserver(self.every)


@final
class _FactorsObserver(AbstractObserver):
    def __init__(self, every: int) -> None:
        self._every, self._count = every, 0
        self._writer = TraceWriter("median_factor", Quantity.STEP_SIZE, Sequence.NONE)

    def open(self, executor):
        return None

    def observe(self, event, executor):
        self._count += 1
        if self._count % self._every:
            return
        gradient, sent = executor.gradient_of(event.job), executor.update_part(event.job, ())
        alive = gradient != 0
        ratio = sent[alive] / gradient[alive]
        self._writer.add(event.time, event.job, np.array([np.median(ratio)]))

    def traces(self) -> tuple[Trace, ...]:
        return (self._writer.finish(),)
