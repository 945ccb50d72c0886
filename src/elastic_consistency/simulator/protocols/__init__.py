"""Protocols: who meets whom, when and with which weight; one a file."""

from elastic_consistency.simulator.protocols.all_reduce import AllReduce as AllReduce
from elastic_consistency.simulator.protocols.asynchronous_server import (
    AsynchronousServer as AsynchronousServer,
)
from elastic_consistency.simulator.protocols.base import AbstractProtocol as AbstractProtocol
