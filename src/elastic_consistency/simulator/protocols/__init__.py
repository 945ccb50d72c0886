"""Protocols: who meets whom, when and with which weight; one a file."""

from elastic_consistency.simulator.protocols.all_reduce import AllReduce as AllReduce
from elastic_consistency.simulator.protocols.asynchronous_server import (
    AsynchronousServer as AsynchronousServer,
)
from elastic_consistency.simulator.protocols.backup_workers import BackupWorkers as BackupWorkers
from elastic_consistency.simulator.protocols.base import AbstractProtocol as AbstractProtocol
from elastic_consistency.simulator.protocols.bounded_staleness import (
    BoundedStaleness as BoundedStaleness,
)
from elastic_consistency.simulator.protocols.queued_server import QueuedServer as QueuedServer
from elastic_consistency.simulator.protocols.rennala import Rennala as Rennala
from elastic_consistency.simulator.protocols.ringmaster import Ringmaster as Ringmaster
