"""A worker and its connection to the server: read, compute, send."""

from collections.abc import Callable
from math import nan
from typing import final

import simpy

from elastic_consistency.schedule import ABSENT, SERVER, WHOLE_MODEL
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.simulation import Simulation


@final
class Client:
    """One worker of a server protocol that decides for itself what an arrival means.

    Args:
        simulation: The run.
        worker: The worker.
        arrived: Called with the client when its update has arrived at the server.

    Attributes:
        worker: The worker.
        job: Its present or last job, -1 before the first.
        version: What the protocol gave to `read`, for its own use.
        block: The block of the job, -1 for the whole model.
        computing: Whether the job has begun to travel and compute, and is not yet encoded.
        in_flight: Whether the update of the job has not yet arrived.
    """

    __slots__ = ("_alarm_arrived", "_arrived", "_begin", "_down", "_processor",
                 "_simulation", "_up", "block", "computing", "in_flight", "job", "version",
                 "worker")  # fmt: skip

    def __init__(
        self, simulation: Simulation, worker: int, arrived: Callable[["Client"], None]
    ) -> None:
        self._simulation, self.worker, self._arrived = simulation, worker, arrived
        self._down = simulation.transfer(SERVER, worker, simulation.model_bytes)
        self._up = simulation.transfer(worker, SERVER, simulation.update_bytes)
        self._processor = simulation.processor(worker, self._on_computed)
        self._alarm_arrived = Alarm(simulation.env, self._on_arrived)
        self.job, self.version, self._begin = ABSENT, 0, 0.0
        self.block = WHOLE_MODEL
        self.computing = self.in_flight = False

    def read(self, version: int = 0, *, round: int = ABSENT, block: int = WHOLE_MODEL) -> bool:
        """Read the server's model for a new job; False if the limit forbids it."""
        simulation, record = self._simulation, self._simulation.record
        now = simulation.env.now
        if not simulation.admit(now):
            return False
        self.version, self.block, self.computing, self.in_flight = version, block, True, True
        self.job = record.job(self.worker, round=round, block=block)
        record.read(self.job, 0)
        record.gradient(self.job)
        down = self._down(now)
        self._begin = now + down
        record.begin(self.job, self._begin)
        self._processor.start(down)
        return True

    def stop(self) -> None:
        """Give up the computation; the job is dropped and counts for nothing."""
        self._processor.cancel()
        self.computing = self.in_flight = False
        if self._begin > self._simulation.env.now:
            self._simulation.record.begin(self.job, nan)  # the model was still on its way
        self._simulation.record.drop(job=self.job, share=0.0)

    def _on_computed(self, event: simpy.Event) -> None:
        self.computing = False
        self._simulation.record.encode(self.job, block=self.block)
        up = self._up(self._simulation.env.now)
        if up == 0:
            self._on_arrived(event)
        else:
            self._alarm_arrived.set(up)

    def _on_arrived(self, event: simpy.Event) -> None:
        self.in_flight = False
        self._arrived(self)


def apply_alone(simulation: Simulation, job: int, *, block: int = WHOLE_MODEL) -> None:
    """ADD, STEP and DROP of a job that counts fully."""
    record = simulation.record
    record.add(0, job=job, block=block)
    record.step(0, block=block)
    record.drop(job=job, share=1.0)
