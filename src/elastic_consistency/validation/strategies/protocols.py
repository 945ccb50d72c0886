"""Strategies for protocols; they shrink to the asynchronous server, or to the simplest left."""

from hypothesis import strategies as st

from elastic_consistency.simulator import Flat, Ring, Tree
from elastic_consistency.simulator.layer_profile import Layer, LayerProfile
from elastic_consistency.simulator.network.collectives import AbstractCollective
from elastic_consistency.simulator.protocols import (
    AbstractBlockProtocol,
    AbstractProtocol,
    AllReduce,
    AsynchronousElasticAveraging,
    AsynchronousServer,
    BackupWorkers,
    BlockCoordinate,
    BoundedStaleness,
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
    NormBounded,
    Order,
    PairwiseAveraging,
    QueuedServer,
    Rennala,
    Ringmaster,
    Scheduler,
    SharedMemory,
)
from elastic_consistency.validation.strategies.clusters import graphs
from elastic_consistency.validation.strategies.delay_laws import delay_laws, seconds
from elastic_consistency.validation.strategies.faults import broadcast_crashes, losses


def servers() -> st.SearchStrategy[AbstractProtocol]:
    """Protocols with one model at a server, to which each update goes with weight at most 1."""
    few = st.integers(1, 4)
    return st.one_of(
        st.just(AsynchronousServer()),
        st.builds(QueuedServer, delay_laws(zero=True)),
        st.builds(BoundedStaleness, st.integers(0, 3).map(float)),
        st.builds(Ringmaster, few, st.booleans()),
        st.builds(Rennala, few),
        st.builds(BackupWorkers, st.just(1), st.booleans()),
    )


def protocols() -> st.SearchStrategy[AbstractProtocol]:
    """Every protocol without blocks that runs on any cluster."""
    few = st.integers(1, 3)
    return st.one_of(
        servers(),
        st.builds(AllReduce, _collectives()),
        st.builds(LocalSgd, few, _collectives()),
        st.builds(LocalStepsServer, few, st.booleans()),
        st.builds(MessagePassing, st.integers(0, 3), st.just(0.0) | losses(), seconds(zero=True)),
        st.just(IncrementalAggregate()),
        _lossy_broadcasts(),
        st.builds(
            AsynchronousElasticAveraging,
            st.sampled_from((0.5, 0.25, 1.0)),
            few,
            st.sampled_from(Order),
        ),
        st.just(EnergyMatchingServer()),
    )


def protocols_of(n_workers: int) -> st.SearchStrategy[AbstractProtocol]:
    """Every protocol without blocks that runs on `n_workers` workers."""
    kinds = [
        protocols(),
        st.builds(
            CrashFaults,
            broadcast_crashes(n_workers),
            st.booleans(),
            seconds(zero=True),
            _collectives(),
        ),
        st.builds(
            ElasticAveraging,
            st.sampled_from((1 / n_workers, 0.5 / n_workers)),
            st.sampled_from(Order),
        ),
        st.builds(Gossip, graphs(min_nodes=n_workers, max_nodes=n_workers), lag=st.integers(0, 2)),
    ]
    if n_workers > 1:  # nobody averages alone
        partners = graphs(min_nodes=n_workers, max_nodes=n_workers)
        kinds.append(st.builds(PairwiseAveraging, partners))
    return st.one_of(kinds)


def block_protocols(sizes: tuple[int, ...]) -> st.SearchStrategy[AbstractBlockProtocol]:
    """Every protocol that runs on any cluster and handles a model block by block.

    Args:
        sizes: Parameters in each block, at least two blocks.
    """
    laws = delay_laws(zero=True)
    return st.one_of(
        st.just(BlockCoordinate(sizes)),
        st.builds(SharedMemory, st.just(sizes), laws, laws),
        st.builds(Layerwise, layer_profiles(sizes), st.sampled_from(Scheduler), _collectives()),
    )


def norm_bounded(sizes: tuple[int, ...]) -> st.SearchStrategy[NormBounded]:
    """The protocol that asks about gradients; it runs by `lock_step`."""
    return st.builds(
        NormBounded, layer_profiles(sizes), st.sampled_from((1.0, 0.5, 0.1)), _collectives()
    )


def layer_profiles(sizes: tuple[int, ...]) -> st.SearchStrategy[LayerProfile]:
    """Layers of the given sizes with any spread of the computation over them."""
    work = st.sampled_from((1.0, 0.0, 2.0))
    layers = [
        # Somebody must compute something.
        st.builds(Layer, st.just(f"layer {k}"), st.just(size), work if k else st.just(1.0), work)
        for k, size in enumerate(sizes)
    ]
    return st.tuples(*layers).map(LayerProfile)


def _collectives() -> st.SearchStrategy[AbstractCollective]:
    return st.sampled_from((Flat(), Ring(), Tree()))


def _lossy_broadcasts() -> st.SearchStrategy[LossyBroadcast]:
    return st.builds(
        LossyBroadcast,
        losses(),
        st.sampled_from((0, 1, None)),
        seconds(zero=True),
        st.sampled_from((1, 2, None)),
        _collectives(),
    )
