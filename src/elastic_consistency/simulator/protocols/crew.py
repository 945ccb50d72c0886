"""A crew: the clients of one run, whether or not things go wrong."""

from collections.abc import Callable
from typing import final

from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.protocols.client import Client
from elastic_consistency.simulator.protocols.unreliable_client import UnreliableClient
from elastic_consistency.simulator.simulation import Simulation

AnyClient = Client | UnreliableClient


@final
class Crew:
    """The clients, each of which begins, and begins again after a crash.

    Args:
        simulation: The run.
        arrived: Called with a client whose update has arrived at the server.
        joined: Called with a client that has just begun; it should read.
        gone: Called with a client that has crashed.

    Attributes:
        clients: The present client of each worker.
    """

    __slots__ = ("_begun", "_gone", "_joined", "_lifetimes", "_simulation", "clients")

    def __init__(
        self,
        simulation: Simulation,
        arrived: Callable[[AnyClient], None],
        joined: Callable[[AnyClient], object],
        gone: Callable[[AnyClient], None] = lambda client: None,
    ) -> None:
        self._simulation, self._joined, self._gone = simulation, joined, gone
        kind = UnreliableClient if simulation.cluster.is_unreliable else Client
        workers = range(simulation.cluster.n_workers)
        self.clients: list[AnyClient] = [kind(simulation, worker, arrived) for worker in workers]
        self._begun = [False for _ in workers]
        self._lifetimes = Lifetimes(simulation, self._start, self._stop, self._after_crash)

    def begin(self) -> None:
        """All workers begin that are there."""
        self._lifetimes.begin()

    def is_present(self, client: AnyClient) -> bool:
        """Whether a client is there, and not one from before a crash."""
        up = self._lifetimes.is_up[client.worker]
        return up and self.clients[client.worker] is client

    def _start(self, worker: int) -> None:
        client = self.clients[worker]
        if self._begun[worker] and isinstance(client, UnreliableClient):
            client = self.clients[worker] = client.successor()
        self._begun[worker] = True
        self._joined(client)

    def _stop(self, worker: int) -> None:
        client = self.clients[worker]
        assert isinstance(client, UnreliableClient)
        client.die()

    def _after_crash(self, worker: int) -> None:
        self._gone(self.clients[worker])
