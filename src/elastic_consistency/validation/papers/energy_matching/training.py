"""Training the paper's network on a simulated cluster: final losses and factors pi."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from elastic_consistency.execution import DivergenceError, Quantity, Trace, execute
from elastic_consistency.execution.probes import AbstractObserver, AbstractProbe
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.optimization.oracles import mnist
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import LogNormal
from elastic_consistency.simulator.protocols import AsynchronousServer, EnergyMatchingServer
from elastic_consistency.validation.papers.energy_matching.convolutional_network import (
    ConvolutionalNetwork,
)

CHANCE = math.log(10)


@final
@dataclass(frozen=True, slots=True)
class Training:
    """One run.

    Attributes:
        loss: Training loss of the server's model at the end; ln 10 where it left the numbers.
        median_factor: Median over coordinates of pi, averaged over the second half of the run.
    """

    loss: float
    median_factor: float


@lru_cache(maxsize=4)
def network(batch: int) -> ConvolutionalNetwork:
    """The network on 5000 MNIST images, normalised by .1307 and .3081."""
    data = mnist()
    images = ((data.features[:, :784].reshape(-1, 28, 28) - 0.1307) / 0.3081).astype(np.float32)
    return ConvolutionalNetwork(images, data.labels, batch=batch)


@lru_cache(maxsize=256)
def train(n_workers: int, rule: AbstractRule, steps: int, batch: int, seed: int) -> Training:
    """`steps` steps a worker; a rule that reads views meets the energy matching server."""
    oracle = network(batch)
    protocol = EnergyMatchingServer(ahead=True) if rule.needs_view else AsynchronousServer()
    cluster = Cluster.alike(n_workers, LogNormal(1.0, 0.1))
    schedule = simulate(protocol, cluster, until=Until(jobs=n_workers * steps), seed=seed)
    start = oracle.start().astype(np.float32)
    probes = (Factors(),) if rule.needs_view else ()
    try:
        measured = execute(schedule, oracle, rule, seeds=(seed,), start=start, probes=probes)
    except DivergenceError:
        return Training(CHANCE, math.nan)
    median = math.nan
    if probes:
        values = measured["median_factor"].values[:, 0]
        median = float(values[len(values) // 2 :].mean())
    loss = float(oracle.loss(measured.models[0])[0])
    return Training(loss if math.isfinite(loss) else CHANCE, median)


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
