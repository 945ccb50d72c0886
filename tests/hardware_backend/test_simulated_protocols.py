"""Whatever the simulator schedules, 2, 3 and 4 ranks replay it as the executor executes it."""

import numpy as np
import pytest
from replay_tasks import replay_all

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import Placement, run_ranks
from elastic_consistency.hardware_backend.order import Order
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import GEM, SGD, AbstractRule
from elastic_consistency.simulator import (
    Cluster,
    Graph,
    Layer,
    LayerProfile,
    OnePeerExponential,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import (
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
    PairwiseAveraging,
    QueuedServer,
    Rennala,
    Ringmaster,
    Scheduler,
    SharedMemory,
)

SEEDS = (2, 9)
_CRASHES = (BroadcastCrash(1, 2, (0,)), BroadcastCrash(3, 4, (2,)))
_PROFILE = LayerProfile((Layer("a", 3, 1, 2), Layer("b", 5, 2, 2), Layer("c", 4, 1, 1)))

PROTOCOLS = {
    "asynchronous server": AsynchronousServer(),
    "all-reduce": AllReduce(),
    "bounded staleness": BoundedStaleness(1),
    "backup workers": BackupWorkers(2, interrupt=True),
    "queued server": QueuedServer(Exponential(0.3)),
    "local steps": LocalStepsServer(3),
    "rennala": Rennala(5),
    "ringmaster": Ringmaster(3, stop=True),
    "incremental aggregate": IncrementalAggregate(),
    "block coordinate": BlockCoordinate((2, 3)),
    "shared memory": SharedMemory((1, 2, 1), Exponential(0.2), Exponential(0.1)),
    "message passing": MessagePassing(2, 0.3, 0.5),
    "crash faults": CrashFaults(_CRASHES),
    "crash faults, substituted": CrashFaults(_CRASHES, substitute=True, timeout_s=0.5),
    "lossy broadcast": LossyBroadcast(0.2, 1, 0.5, resync=2),
    "local SGD": LocalSgd(3),
    "layer-wise": Layerwise(_PROFILE, Scheduler.CROSS_BARRIER),
    "layer-wise, variance-bounded": Layerwise(_PROFILE, Scheduler.VARIANCE_BOUNDED),
    "gossip on a ring": Gossip(Graph.ring(4)),
    "overlap gradient push": Gossip(OnePeerExponential(4), lag=2),
    "pairwise averaging": PairwiseAveraging(Graph.ring(4)),
    "elastic averaging": ElasticAveraging(0.2),
    "asynchronous elastic averaging": AsynchronousElasticAveraging(0.3, 2),
    "energy matching": EnergyMatchingServer(),
}


def _rule(name: str) -> AbstractRule:
    return GEM(0.01) if name == "energy matching" else SGD(0.05)


@pytest.fixture(scope="module")
def schedules():
    cluster = Cluster.alike(4, Exponential(1.0))
    made = {}
    for name, protocol in PROTOCOLS.items():
        made[name] = simulate(protocol, cluster, until=Until(jobs=24), seed=5)
        made[name].check()
    return made


def _problem(schedule) -> Quadratic:
    d = sum(schedule.metadata.block_sizes) or 6
    return Quadratic(np.linspace(0.1, 1.0, d), variance=0.5)


@pytest.fixture(scope="module")
def expected(schedules):
    return {
        name: execute(schedule, _problem(schedule), _rule(name), seeds=SEEDS).models
        for name, schedule in schedules.items()
    }


@pytest.fixture(scope="module", params=[(2, False), (3, False), (4, False), (4, True)])
def replayed(request, schedules):
    """(ordered, models by name): one group of processes replays all schedules in turn."""
    n_ranks, ordered = request.param
    orders = {
        name: Order(
            schedule,
            _problem(schedule),
            _rule(name),
            None,
            SEEDS,
            Placement(n_ranks),
            "cpu",
            "float64",
            ordered,
        )
        for name, schedule in schedules.items()
    }
    parts = run_ranks(replay_all, [orders] * n_ranks)
    models = {name: {k: v for part in parts for k, v in part[name].items()} for name in orders}
    return ordered, models


@pytest.mark.parametrize("name", PROTOCOLS)
def test_replay_equals_the_executor(replayed, expected, name):
    """To 1e-12, and bit for bit where messages are summed in the order of their PUT rows."""
    ordered, models = replayed

    assert sorted(models[name]) == list(range(len(expected[name])))
    for replica, theirs in enumerate(expected[name]):
        difference = np.linalg.norm(models[name][replica] - theirs)
        assert difference <= (0.0 if ordered else 1e-12) * np.linalg.norm(theirs)
