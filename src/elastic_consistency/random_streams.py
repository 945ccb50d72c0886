"""Random streams: infinite rows of uniforms, addressed by (seed, cause, worker) and position.

Everything random in the package is a transform of uniforms that are looked up by position.
Draw k of a stream therefore never depends on how many are drawn at a time, nor on any other
stream, and two algorithms that share a seed meet the same delays and the same samples.
"""

from enum import IntEnum
from functools import lru_cache
from typing import final

import numpy as np

_LARGEST = 1 - 2.0**-53
_WORDS_PER_COUNTER = 4  # Philox4x64 turns one counter into four 64-bit words.


class Cause(IntEnum):
    """What a stream decides; streams of different causes are independent."""

    COMPUTE = 1
    LINK = 2
    FAULT = 3
    SAMPLE = 4
    PHASE = 5
    TOPOLOGY = 6
    DATA = 7
    CODEC = 8


@lru_cache(maxsize=65536)
def _key(seed: int, cause: int, worker: int) -> tuple[int, int]:
    # spawn_key takes no negative number, and the server is worker -1.
    sequence = np.random.SeedSequence(seed, spawn_key=(cause, worker + 1))
    words = sequence.generate_state(2, np.uint64)
    return int(words[0]), int(words[1])


def uniforms(seed: int, cause: Cause, worker: int, first: int, count: int) -> np.ndarray:
    """Draws `first` to `first + count` of one stream.

    Args:
        seed: Seed of the run, >= 0.
        cause: What the stream decides.
        worker: Worker that draws, -1 for the server or for draws that belong to nobody.
        first: Position of the first draw, >= 0.
        count: Number of draws, >= 0.

    Returns:
        (count,) float64 in the open interval (0, 1), so that every inverse distribution
        function is finite on it.

    Source: Salmon, Moraes, Dror, Shaw (2011), Parallel Random Numbers: As Easy as 1, 2, 3.
    """
    counter, skipped = divmod(first, _WORDS_PER_COUNTER)
    generator = np.random.Philox(key=_key(seed, cause, worker), counter=counter)
    words = generator.random_raw(skipped + count)[skipped:]
    # 53 bits and half a step, so that 0 is never returned; the largest word rounds up to 1.
    values = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.minimum(values, _LARGEST)


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
    """(R, width) uniforms of each job, the same for a batch as for R single runs.

    Args:
        seeds: One seed a replicate.
        cause: What the uniforms decide.
        worker: Stream of this worker, -1 for a stream that all workers share.
        width: Uniforms a job.
        block: Jobs fetched at a time; it changes the speed and nothing else.
    """

    __slots__ = ("_block", "_blocks", "_cause", "_seeds", "_width", "_worker")

    def __init__(
        self, seeds: tuple[int, ...], cause: Cause, worker: int, width: int, *, block: int = 64
    ) -> None:
        self._seeds, self._cause, self._worker = seeds, cause, worker
        self._width, self._block = width, block
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
        return np.stack(rows).reshape(len(self._seeds), self._block, self._width)
