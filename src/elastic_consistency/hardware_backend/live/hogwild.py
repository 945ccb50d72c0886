"""Live shared memory: workers read and write one model, block by block, without taking turns."""

import time
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch

from elastic_consistency._checks import check
from elastic_consistency.hardware_backend.live.actor import Actor
from elastic_consistency.hardware_backend.live.protocol import AbstractLiveProtocol
from elastic_consistency.schedule import SERVER, Op


@final
@dataclass(frozen=True, slots=True, eq=False)
class SharedModel:
    """The memory that all workers map.

    Attributes:
        path: File of (d,) float64 parameters followed by one int64 a block, the number of
            accesses so far.
        locks: One a block, held while one block is copied in or out.
    """

    path: str
    locks: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Hogwild(AbstractLiveProtocol):
    """Rank w is worker w; the model lives in memory that all of them map.

    A single block is read and written whole (as one cache line is); between blocks nothing is
    locked, so a view mixes versions. The blocks are the order's block sizes.

    Attributes:
        read_pause: Seconds that a reader sleeps between two blocks, >= 0. The longer, the more
            blocks do others write meanwhile; it is what slow reads are in the simulator.

    Source: Recht, Re, Wright, Niu (2011), arXiv:1106.5730.
    """

    read_pause: float = 0.0

    def __post_init__(self) -> None:
        sound = 0 <= self.read_pause < float("inf")
        check(sound, self, "read_pause", "a finite number of seconds >= 0")

    def hosts(self, n_workers):
        return (SERVER,)

    def n_ranks(self, n_workers):
        return n_workers

    def worker_of(self, rank):
        return rank

    def act(self, actor):
        memory = _Memory(actor)
        for _ in range(actor.order.jobs):
            job = actor.new_job()
            for block in memory.blocks:
                if block > 0 and self.read_pause > 0:
                    time.sleep(self.read_pause)
                    actor.advance()
                memory.read(job, block)
            actor.compute(job)
            for block in memory.blocks:
                memory.write(job, block)
            actor.do(Op.DROP, job=job, share=1.0)


@final
class _Memory:
    """One worker's access to the shared model."""

    def __init__(self, actor: Actor) -> None:
        shared, d = actor.order.shared, actor.start.shape[1]
        sizes = actor.order.block_sizes or (d,)
        self._actor, self._locks = actor, shared.locks
        self._model = np.memmap(shared.path, np.float64, "r+", shape=(d,))
        self._turns = np.memmap(shared.path, np.int64, "r+", 8 * d, (len(sizes),))
        ends = np.cumsum(sizes).tolist()
        self._parts = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        self.blocks = range(len(sizes))

    def read(self, job: int, block: int) -> None:
        """Copy one block out."""
        with self._locks[block]:
            self._fetch(block)
            self._do(Op.READ, block, job=job, replica=0)

    def write(self, job: int, block: int) -> None:
        """Change one block in place."""
        with self._locks[block]:
            self._fetch(block)
            self._do(Op.ADD, block, job=job, replica=0)
            self._do(Op.STEP, block, replica=0)
            changed = self._actor.executor.model_part(0, (block,))
            self._model[self._parts[block]] = changed[0].numpy()

    def _fetch(self, block: int) -> None:
        values = torch.tensor(np.array(self._model[self._parts[block]]))[None]
        self._actor.executor.place_model(0, (block,), values, 1.0)

    def _do(self, op: Op, block: int, **operands: Any) -> None:
        turn = int(self._turns[block])
        self._turns[block] = turn + 1
        self._actor.note(op, block=block, turn=turn, **operands)
        self._actor.execute(op, block=block, **operands)
