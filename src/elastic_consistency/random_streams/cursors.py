"""Cursors: where the next uniforms of a stream, or of a job, come from."""

from collections.abc import Callable
from typing import final

import numpy as np

from elastic_consistency.random_streams.uniforms import Cause, uniforms


@final
class Stream:
    """A cursor on one stream, read ahead in blocks.

    Args:
        seed: Seed of the run, >= 0.
        cause: What the stream decides.
        worker: Worker that draws, -1 for the server.
        block: Draws fetched at a time; it changes the speed and nothing else.
    """

    __slots__ = ("_address", "_block", "_next", "_values", "position")

    def __init__(self, seed: int, cause: Cause, worker: int, *, block: int = 256) -> None:
        self._address = (seed, cause, worker)
        self._block = block
        self._values: list[float] = []
        self._next = 0
        self.position = 0

    def draw(self) -> float:
        """The next uniform in (0, 1)."""
        if self._next == len(self._values):
            self._values = uniforms(*self._address, self.position, self._block).tolist()
            self._next = 0
        value = self._values[self._next]
        self._next += 1
        self.position += 1
        return value


@final
class JobUniforms:
    """(R, width) uniforms of each job, or what becomes of them, for a batch as for R single runs.

    Args:
        seeds: One seed a replicate.
        cause: What the uniforms decide.
        worker: Stream of this worker, -1 for a stream that all workers share.
        width: Uniforms a job.
        block: Jobs fetched at a time; it changes the speed and nothing else.
        transform: Of each uniform by itself; called with many at a time.
    """

    __slots__ = ("_block", "_blocks", "_cause", "_seeds", "_transform", "_width", "_worker")

    def __init__(
        self,
        seeds: tuple[int, ...],
        cause: Cause,
        worker: int,
        width: int,
        *,
        block: int = 64,
        transform: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self._seeds, self._cause, self._worker = seeds, cause, worker
        self._width, self._block = width, block
        self._transform = transform
        self._blocks: dict[int, np.ndarray] = {}

    def __call__(self, job: int) -> np.ndarray:
        """(R, width) float64 uniforms of `job`."""
        number, row = divmod(job, self._block)
        if number not in self._blocks:
            if len(self._blocks) == 2:  # jobs arrive nearly in order: two blocks suffice
                self._blocks.pop(min(self._blocks))
            self._blocks[number] = self._fetch(number)
        return self._blocks[number][:, row]

    def _fetch(self, number: int) -> np.ndarray:
        count = self._block * self._width
        rows = [
            uniforms(seed, self._cause, self._worker, number * count, count) for seed in self._seeds
        ]
        drawn = np.stack(rows).reshape(len(self._seeds), self._block, self._width)
        return self._transform(drawn) if self._transform else drawn
