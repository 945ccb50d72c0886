"""Protocols: who meets whom, when and with which weight; one a file."""

from elastic_consistency.simulator.protocols.all_reduce import AllReduce as AllReduce
from elastic_consistency.simulator.protocols.asynchronous_server import (
    AsynchronousServer as AsynchronousServer,
)
from elastic_consistency.simulator.protocols.backup_workers import BackupWorkers as BackupWorkers
from elastic_consistency.simulator.protocols.base import (
    AbstractBlockProtocol as AbstractBlockProtocol,
)
from elastic_consistency.simulator.protocols.base import AbstractProtocol as AbstractProtocol
from elastic_consistency.simulator.protocols.base import (
    AbstractUnreliableProtocol as AbstractUnreliableProtocol,
)
from elastic_consistency.simulator.protocols.block_coordinate import (
    BlockCoordinate as BlockCoordinate,
)
from elastic_consistency.simulator.protocols.bounded_staleness import (
    BoundedStaleness as BoundedStaleness,
)
from elastic_consistency.simulator.protocols.crash_faults import BroadcastCrash as BroadcastCrash
from elastic_consistency.simulator.protocols.crash_faults import CrashFaults as CrashFaults
from elastic_consistency.simulator.protocols.elastic_averaging import (
    AsynchronousElasticAveraging as AsynchronousElasticAveraging,
)
from elastic_consistency.simulator.protocols.elastic_averaging import Order as Order
from elastic_consistency.simulator.protocols.energy_matching_server import (
    EnergyMatchingServer as EnergyMatchingServer,
)
from elastic_consistency.simulator.protocols.gossip import Gossip as Gossip
from elastic_consistency.simulator.protocols.incremental_aggregate import (
    IncrementalAggregate as IncrementalAggregate,
)
from elastic_consistency.simulator.protocols.layerwise import Layerwise as Layerwise
from elastic_consistency.simulator.protocols.layerwise import Scheduler as Scheduler
from elastic_consistency.simulator.protocols.local_sgd import LocalSgd as LocalSgd
from elastic_consistency.simulator.protocols.local_steps_server import (
    LocalStepsServer as LocalStepsServer,
)
from elastic_consistency.simulator.protocols.lossy_broadcast import LossyBroadcast as LossyBroadcast
from elastic_consistency.simulator.protocols.message_passing import MessagePassing as MessagePassing
from elastic_consistency.simulator.protocols.norm_bounded import NormBounded as NormBounded
from elastic_consistency.simulator.protocols.pairwise import PairwiseAveraging as PairwiseAveraging
from elastic_consistency.simulator.protocols.queued_server import QueuedServer as QueuedServer
from elastic_consistency.simulator.protocols.rennala import Rennala as Rennala
from elastic_consistency.simulator.protocols.ringmaster import Ringmaster as Ringmaster
from elastic_consistency.simulator.protocols.shared_memory import SharedMemory as SharedMemory
from elastic_consistency.simulator.protocols.synchronous_elastic_averaging import (
    ElasticAveraging as ElasticAveraging,
)
