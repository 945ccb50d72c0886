"""A worker of a server on a cluster where things go wrong or are shared."""

from collections.abc import Callable
from typing import final

import simpy

from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import ABSENT, SERVER, WHOLE_MODEL
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.network.channel import Transfer
from elastic_consistency.simulator.simulation import Simulation


@final
class UnreliableClient:
    """Read, travel, compute, travel; it can die, and what it has sent is heard all the same.

    Attributes and `read` are those of Client. A worker that restarts is another client, its
    `successor`, so that an update from before the crash still knows its job and its version.

    Args:
        simulation: The run.
        worker: The worker.
        arrived: Called with the client when its update has arrived at the server.
    """

    __slots__ = ("_arrived", "_down", "_losses", "_processor", "_pull", "_simulation", "_up",
                 "block", "computing", "in_flight", "is_alive", "job", "version",
                 "worker")  # fmt: skip

    def __init__(
        self,
        simulation: Simulation,
        worker: int,
        arrived: Callable[["UnreliableClient"], None],
    ) -> None:
        self._simulation, self.worker, self._arrived = simulation, worker, arrived
        self._down = simulation.channel(SERVER, worker, simulation.model_bytes)
        self._up = simulation.channel(worker, SERVER, simulation.update_bytes)
        self._losses = Stream(simulation.metadata.seed, Cause.FAULT, worker)
        self._processor = simulation.processor(worker, self._on_computed)
        self._begin()

    def _begin(self) -> None:
        self.job, self.version, self.block = ABSENT, 0, WHOLE_MODEL
        self.is_alive = True
        self.computing = self.in_flight = False
        self._pull: Transfer | None = None

    def successor(self) -> "UnreliableClient":
        """The same worker after a restart; its draws go on where they stopped."""
        client = object.__new__(UnreliableClient)
        for name in ("_arrived", "_down", "_losses", "_simulation", "_up", "worker"):
            setattr(client, name, getattr(self, name))
        client._processor = self._processor.serving(client._on_computed)
        client._begin()
        return client

    def read(self, version: int = 0, *, round: int = ABSENT, block: int = WHOLE_MODEL) -> bool:
        """Read the server's model for a new job; False if the limit or a crash forbids it."""
        simulation, record = self._simulation, self._simulation.record
        if not (self.is_alive and simulation.admit(simulation.env.now)):
            return False
        self.version, self.block, self.computing, self.in_flight = version, block, True, True
        self.job = record.job(self.worker, round=round, block=block)
        record.read(self.job, 0)
        record.gradient(self.job)
        self._pull = self._down.send(self._on_pulled)
        return True

    def stop(self) -> None:
        """Give up the computation; the job is dropped and counts for nothing."""
        if self._pull is None:
            self._processor.cancel()
        else:
            self._pull.cancel()
            self._pull = None
        self.computing = self.in_flight = False
        self._simulation.record.drop(job=self.job, share=0.0)

    def die(self) -> None:
        """Lose what is not yet sent."""
        self.is_alive = False
        if self.computing:
            self.stop()

    def _on_pulled(self) -> None:
        self._pull = None
        self._simulation.record.begin(self.job, self._simulation.env.now)
        self._processor.start()

    def _on_computed(self, event: simpy.Event) -> None:
        self.computing = False
        self._simulation.record.encode(self.job, block=self.block)
        self._up.send(self._on_arrived)

    def _on_arrived(self) -> None:
        self.in_flight = False
        script = self._simulation.cluster.faults
        self._simulation.used.add("lost acknowledgements")
        if script.lost_acknowledgements > 0 and self._next_loss() < script.lost_acknowledgements:
            Alarm(self._simulation.env, self._on_duplicate).set(script.resend_s or 0.0)
        self._arrived(self)

    def _next_loss(self) -> float:
        # Positions 3 k + 1 and 3 k + 2 of the stream belong to the crashes.
        u = self._losses.draw()
        self._losses.draw()
        self._losses.draw()
        return u

    def _on_duplicate(self, event: simpy.Event) -> None:
        record = self._simulation.record
        record.annotate("duplicate", self.worker, "recognised, not applied")
