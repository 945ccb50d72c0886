"""Asynchronous block-coordinate descent: each job updates one random block."""

from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import SERVER, Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.protocols.base import AbstractBlockProtocol
from elastic_consistency.simulator.protocols.restatement import (
    previous_of_worker,
    refuse_unless,
    require_everywhere,
    require_server_exchanges,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class BlockCoordinate(AbstractBlockProtocol):
    """The asynchronous server, where each job reads all and updates one block, drawn uniformly.

    With a bound on the delays this is a partially asynchronous iteration, without one a totally
    asynchronous one, as long as every worker goes on for ever.

    Attributes:
        sizes: Parameters in each block, at least two blocks.

    Source: Liu, Wright (2015), arXiv:1403.3862 (inconsistent reads are in SharedMemory).
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        sound = len(self.sizes) > 1 and all(size > 0 for size in self.sizes)
        check(sound, self, "sizes", "at least two numbers of parameters > 0")

    def block_sizes(self):
        return self.sizes

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        for worker in range(simulation.cluster.n_workers):
            _Coordinate(simulation, worker, len(self.sizes)).begin()

    def restate(self, schedule):
        rule, rows, jobs = "block coordinate", schedule.rows, schedule.jobs
        found = require_server_exchanges(schedule, rule)
        refuse_unless(bool((jobs.block >= 0).all()), rule, "a job has one block")
        used = np.flatnonzero(np.isin(rows.op, (Op.ENCODE, Op.ADD)))
        own = rows.block[used] == jobs.block[rows.job[used]]
        require_everywhere(own, used, rule, "a job updates its own block")
        steps = np.flatnonzero(rows.op == Op.STEP)
        same = rows.block[steps] == rows.block[steps - 1]
        require_everywhere(same, steps, rule, "the block that was added to is stepped")
        previous = previous_of_worker(schedule)
        later = np.flatnonzero(previous >= 0)
        at_once = found[later, 0] == found[previous[later], 4] + 1
        require_everywhere(at_once, found[later, 0], rule, "a worker reads in the same exchange")


@final
class _Coordinate:
    """One worker."""

    __slots__ = ("_arrived", "_blocks", "_choices", "_down", "_job", "_place", "_processor",
                 "_simulation", "_up", "_worker")  # fmt: skip

    def __init__(self, simulation: Simulation, worker: int, n_blocks: int) -> None:
        self._simulation, self._worker, self._blocks = simulation, worker, n_blocks
        self._choices = Stream(simulation.metadata.seed, Cause.TOPOLOGY, worker)
        payload = simulation.payload
        self._down = simulation.transfer(SERVER, worker, payload.model_bytes)
        self._up = simulation.transfer(worker, SERVER, payload.update_bytes)
        self._processor = simulation.processor(worker, self._on_computed)
        self._arrived = Alarm(simulation.env, self._on_arrived)
        self._job, self._place = -1, 0

    def begin(self) -> None:
        simulation, record = self._simulation, self._simulation.record
        now = simulation.env.now
        if not simulation.admit(now):
            return
        self._place = min(int(self._choices.draw() * self._blocks), self._blocks - 1)
        self._job = record.job(self._worker, block=self._place)
        record.read(self._job, 0)
        record.gradient(self._job)
        down = self._down(now)
        record.begin(self._job, now + down)
        self._processor.start(down)

    def _on_computed(self, event: simpy.Event) -> None:
        self._simulation.record.encode(self._job, block=self._place)
        self._arrived.set(self._up(self._simulation.env.now))

    def _on_arrived(self, event: simpy.Event) -> None:
        record = self._simulation.record
        record.add(0, job=self._job, block=self._place)
        record.step(0, block=self._place)
        record.drop(job=self._job, share=1.0)
        self.begin()
