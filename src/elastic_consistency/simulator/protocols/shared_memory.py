"""Shared memory without locks: reads and writes are torn."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import SERVER, Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant
from elastic_consistency.simulator.delays.draws import LINK_LANES, independent_draws
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.protocols.base import (
    AbstractBlockProtocol,
    AbstractUnreliableProtocol,
)
from elastic_consistency.simulator.protocols.fault_restatement import require_lives
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class SharedMemory(AbstractBlockProtocol, AbstractUnreliableProtocol):
    """Workers read the model block by block, compute, and add their update block by block.

    Nothing is locked but the single block: a view mixes versions, and an update is visible in
    part. A slow worker is slow in reading and writing too (its `slowdown` applies to them), and
    slow reads and writes widen the window in which others interfere. A worker that crashes while
    it reads or computes loses its job; an update of which writing has begun is written to its end.

    Attributes:
        sizes: Parameters in each block, at least two blocks.
        read: Law of the time to read one block, s.
        write: Law of the time to add one block, s.

    Source: Niu, Recht, Ré, Wright (2011), Hogwild!, NIPS 24; Nadiradze et al. (2021).
    """

    sizes: tuple[int, ...]
    read: AbstractDelayLaw = field(default_factory=lambda: Constant(0.0))
    write: AbstractDelayLaw = field(default_factory=lambda: Constant(0.0))

    def __post_init__(self) -> None:
        sound = len(self.sizes) > 1 and all(size > 0 for size in self.sizes)
        check(sound, self, "sizes", "at least two numbers of parameters > 0")
        for name in ("read", "write"):
            law = isinstance(getattr(self, name), AbstractDelayLaw)
            check(law, self, name, "a delay law")

    def block_sizes(self):
        return self.sizes

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        workers: list[_Hogwild] = []
        lifetimes = Lifetimes(
            simulation, lambda worker: workers[worker].begin(), lambda worker: workers[worker].die()
        )
        n, is_up = simulation.cluster.n_workers, lifetimes.is_up
        workers.extend(_Hogwild(simulation, worker, self, is_up) for worker in range(n))
        lifetimes.begin()

    def restate(self, schedule):
        self.restate_with_faults(schedule)

    def restate_with_faults(self, schedule):
        rule, rows, blocks = "shared memory", schedule.rows, len(self.sizes)
        life = (*[Op.READ] * blocks, Op.GRADIENT, Op.ENCODE, *[Op.ADD] * blocks, Op.DROP)
        require_only(schedule, (*life, Op.STEP, Op.CRASH), rule)
        found = require_lives(schedule, life, rule)
        for block in range(blocks):
            for column in (block, blocks + 2 + block):
                at = found[:, column][found[:, column] >= 0]
                in_order = rows.block[at] == block
                require_everywhere(in_order, at, rule, "blocks are touched in order")
        add = np.flatnonzero(rows.op == Op.ADD)
        step = (np.append(rows.op, -1)[add + 1] == Op.STEP) & (rows.weight[add] == 1)
        step &= np.append(rows.block, -1)[add + 1] == rows.block[add]
        require_everywhere(step, add, rule, "a block is added in one piece, with weight 1")
        refuse_unless(int((rows.op == Op.STEP).sum()) == len(add), rule, "#STEP = #ADD")
        share = schedule.jobs.share[found[:, -2] >= 0]
        refuse_unless(bool((share == 1).all()), rule, "a share is 1")


@final
class _Hogwild:
    """One worker: read all blocks, compute, write all blocks, and again."""

    __slots__ = ("_block", "_blocks", "_is_up", "_is_writing", "_job", "_processor", "_read",
                 "_read_seconds", "_simulation", "_worker", "_write",
                 "_write_seconds")  # fmt: skip

    def __init__(
        self, simulation: Simulation, worker: int, protocol: SharedMemory, is_up: list[bool]
    ) -> None:
        self._simulation, self._worker, self._is_up = simulation, worker, is_up
        self._blocks = len(protocol.sizes)
        seed = simulation.metadata.seed
        slowdown = simulation.cluster.workers[worker].slowdown
        self._write_seconds, self._read_seconds = (
            independent_draws(
                law, seed, Cause.LINK, worker, lane=lane, lanes=LINK_LANES, scale=slowdown
            )
            for lane, law in enumerate((protocol.write, protocol.read))
        )
        self._read = Alarm(simulation.env, self._on_read)
        self._processor = simulation.processor(worker, self._on_computed)
        self._write = Alarm(simulation.env, self._on_written)
        self._job, self._block = -1, 0
        self._is_writing = False

    def begin(self) -> None:
        # Who is back while its last update is still being written begins after that.
        if not self._is_writing and self._simulation.admit(self._simulation.env.now):
            self._block = 0
            self._read.set(self._read_seconds(0.0))

    def die(self) -> None:
        """Lose the job, unless its update is being written."""
        if self._is_writing:
            return
        if self._block < self._blocks:
            self._read.cancel()
        else:
            self._processor.cancel()
        if self._block > 0:
            self._simulation.record.drop(job=self._job, share=0.0)

    def _on_read(self, event: simpy.Event) -> None:
        record, now = self._simulation.record, self._simulation.env.now
        if self._block == 0:
            self._job = record.job(self._worker)
        record.read(self._job, 0, block=self._block)
        self._block += 1
        if self._block < self._blocks:
            self._read.set(self._read_seconds(now))
            return
        record.gradient(self._job)
        record.begin(self._job, now)
        self._processor.start()

    def _on_computed(self, event: simpy.Event) -> None:
        self._simulation.record.encode(self._job)
        self._block, self._is_writing = 0, True
        self._write.set(self._write_seconds(0.0))

    def _on_written(self, event: simpy.Event) -> None:
        record = self._simulation.record
        record.add(0, job=self._job, block=self._block)
        record.step(0, block=self._block)
        self._block += 1
        if self._block < self._blocks:
            self._write.set(self._write_seconds(0.0))
            return
        record.drop(job=self._job, share=1.0)
        self._is_writing = False
        if self._is_up[self._worker]:
            self.begin()
