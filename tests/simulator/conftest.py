"""What the tests of the simulator share."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import (
    Cluster,
    Graph,
    Layer,
    LayerProfile,
    Link,
    OnePeerExponential,
    Payload,
    Worker,
)
from elastic_consistency.simulator.delays import (
    AbstractDelayLaw,
    Constant,
    Exponential,
    LogNormal,
)
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    AbstractUnreliableProtocol,
    AllReduce,
    AsynchronousElasticAveraging,
    AsynchronousServer,
    BackupWorkers,
    BlockCoordinate,
    BoundedStaleness,
    BroadcastCrash,
    CrashFaults,
    ElasticAveraging,
    EnergyMatchingServer,
    Gossip,
    IncrementalAggregate,
    Layerwise,
    LocalSgd,
    LocalStepsServer,
    LossyBroadcast,
    MessagePassing,
    Order,
    PairwiseAveraging,
    QueuedServer,
    Rennala,
    Ringmaster,
    Scheduler,
    SharedMemory,
)

_CRASHES = (BroadcastCrash(1, 2, (0,)), BroadcastCrash(3, 4, (2,)))

_PROFILE = LayerProfile((Layer("a", 10, 1, 2), Layer("b", 100, 2, 2), Layer("c", 40, 1, 1)))

#: Every protocol, in every variant, for four workers.
PROTOCOLS = {
    "asynchronous server": AsynchronousServer(),
    "all-reduce": AllReduce(),
    "bounded staleness": BoundedStaleness(1),
    "backup workers": BackupWorkers(3),
    "backup workers, interrupted": BackupWorkers(2, interrupt=True),
    "queued server": QueuedServer(Exponential(0.3)),
    "local steps": LocalStepsServer(3),
    "normalised local steps": LocalStepsServer(2, normalised=True),
    "energy matching server": EnergyMatchingServer(),
    "energy matching server, ahead": EnergyMatchingServer(ahead=True),
    "rennala": Rennala(5),
    "ringmaster": Ringmaster(3),
    "ringmaster, stopping": Ringmaster(3, stop=True),
    "incremental aggregate": IncrementalAggregate(),
    "block coordinate": BlockCoordinate((2, 3)),
    "shared memory": SharedMemory((1, 2, 1), Exponential(0.2), Exponential(0.1)),
    "message passing": MessagePassing(2),
    "message passing, losses": MessagePassing(2, 0.3, 0.5),
    "crash faults": CrashFaults(_CRASHES),
    "crash faults, substituted": CrashFaults(_CRASHES, substitute=True, timeout_s=0.5),
    "lossy broadcast": LossyBroadcast(0.2),
    "lossy broadcast, repeated": LossyBroadcast(0.2, None, 0.5),
    "lossy broadcast, averaged": LossyBroadcast(0.2, 1, 0.5, resync=2),
    "local SGD": LocalSgd(3),
    "layer-wise with a barrier": Layerwise(_PROFILE),
    "layer-wise across the barrier": Layerwise(_PROFILE, Scheduler.CROSS_BARRIER),
    "layer-wise, variance-bounded": Layerwise(_PROFILE, Scheduler.VARIANCE_BOUNDED),
    "gossip on a ring": Gossip(Graph.ring(4)),
    "gradient push": Gossip(OnePeerExponential(4)),
    "overlap gradient push": Gossip(OnePeerExponential(4), lag=2),
    "pairwise averaging": PairwiseAveraging(Graph.ring(4)),
    "pairwise averaging, bipartite": PairwiseAveraging(Graph.ring(4), bipartite=True),
    "elastic averaging": ElasticAveraging(0.2),
    "elastic averaging, step first": ElasticAveraging(0.2, Order.STEP_THEN_EXCHANGE),
    "asynchronous elastic averaging": AsynchronousElasticAveraging(0.3, 2),
    "asynchronous elastic averaging, step first": AsynchronousElasticAveraging(
        0.3, 2, Order.STEP_THEN_EXCHANGE
    ),
}

sys.path.insert(0, str(Path(__file__).parent))  # for unreliable, which test files share


@pytest.fixture(params=PROTOCOLS.values(), ids=PROTOCOLS.keys(), scope="session")
def protocol(request) -> AbstractProtocol:
    """Each protocol in turn."""
    return request.param


_MORTAL = {k: p for k, p in PROTOCOLS.items() if isinstance(p, AbstractUnreliableProtocol)}


@pytest.fixture(params=_MORTAL.values(), ids=_MORTAL.keys(), scope="session")
def mortal(request) -> AbstractUnreliableProtocol:
    """Each protocol that knows crashes, in turn."""
    return request.param


class Script(AbstractDelayLaw):
    """Delays that a test dictates, one after another, again from the start at the end."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = seconds
        self.used = 0

    def quantile(self, u):
        places = np.arange(self.used, self.used + len(u)) % len(self.seconds)
        self.used += len(u)
        return np.array(self.seconds, float)[places]

    def mean(self):
        return float(np.mean(self.seconds))

    def variance(self):
        return float(np.var(self.seconds))


@pytest.fixture(scope="session")
def script() -> Callable[..., Script]:
    """script(1.0, 0.0, 200.0) is a law whose draws are these."""
    return Script


@pytest.fixture(scope="session")
def uneven_cluster() -> Cluster:
    """Four workers and links of every kind, none like another."""
    return Cluster(
        (
            Worker(Exponential(1.0), uplink=Link(0.1, Exponential(0.2), 1e6)),
            Worker(LogNormal(0.5, 1.0), slowdown=3.0, downlink=Link(0.05)),
            Worker(Exponential(0.25), uplink=Link(0.0, LogNormal(0.1, 0.5))),
            Worker(Constant(1.0), downlink=Link(0.0, Exponential(0.1))),
        ),
        fabric=Link(0.02, Exponential(0.01), 1e6),
    )


@pytest.fixture(scope="session")
def payload() -> Payload:
    """A model of 10 kB and updates of 5 kB."""
    return Payload(1e4, 5e3)


@pytest.fixture(scope="session")
def follow() -> Callable:
    """follow(schedule, gradient, step_size) executes it on numbers; returns all replicas.

    Written for the tests alone, without blocks and with plain stochastic gradient steps.
    """

    def run(schedule, gradient, step_size, start=1.0):
        rows, n = schedule.rows, len(schedule.metadata.hosts)
        x, mass, buffer = np.full(n, float(start)), np.ones(n), np.zeros(n)
        views, messages, history = {}, {}, []
        for k in range(len(rows)):
            op, job, message, r = rows.op[k], rows.job[k], rows.message[k], rows.replica[k]
            weight, keep = rows.weight[k], rows.keep[k]
            if op == Op.READ:
                views[job] = x[r] / mass[r]
            elif op == Op.ADD:
                buffer[r] += weight * (gradient(views[job]) if job >= 0 else messages[message][0])
            elif op == Op.STEP:
                x[r], buffer[r] = x[r] - step_size * buffer[r], 0.0
                history.append(x.copy())
            elif op == Op.PUT and job >= 0:
                value = messages.get(message, (0.0, 0.0))
                messages[message] = (value[0] + weight * gradient(views[job]), 0.0)
            elif op == Op.PUT:
                value = messages.get(message, (0.0, 0.0))
                messages[message] = (value[0] + weight * x[r], value[1] + weight * mass[r])
                if keep >= 0:
                    x[r], mass[r] = keep * x[r], keep * mass[r]
            elif op == Op.MIX:
                x[r] = keep * x[r] + weight * messages[message][0]
                mass[r] = keep * mass[r] + weight * messages[message][1]
        return x, mass, history

    return run
