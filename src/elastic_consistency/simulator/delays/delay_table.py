"""Delays of many workers, drawn ahead into one array that they share."""

from collections.abc import Hashable, Sequence
from typing import final

import numpy as np

from elastic_consistency.random_streams import Cause, uniform_table, uniforms
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant

_USED_UP = -1.0  # no delay is negative
_FEWEST, _MOST = 16, 1024  # draws of a worker made at a time, where nothing limits them to less
_ALL_WORKERS = 2**20  # draws of all workers together


def draws_ahead(n_workers: int, n_jobs: int | None) -> int:
    """Draws of each worker to be made at a time; it changes speed and memory, nothing else.

    Args:
        n_workers: Workers that share a table.
        n_jobs: Draws of all of them together, if known.
    """
    most = max(_FEWEST, min(_MOST, _ALL_WORKERS // n_workers))
    if n_jobs is not None:
        mean = n_jobs / n_workers
        most = min(most, int(mean + 2 * mean**0.5) + 1)
    return -(-most // 4) * 4  # random streams are made of groups of four


@final
class DelayTable:
    """Row w holds what worker w draws next: offset + scale * (next draw of its law), s.

    A function that draws, and a list of numbers, for each worker would take ten times the memory.

    Args:
        laws: (n) law of each worker's delays.
        scales: (n) factor of each worker's draws, >= 0.
        seed: Seed of the run.
        cause: What the streams decide.
        encode_s: Added to each draw before it is scaled, s, >= 0.
        ahead: Draws of each worker made at a time.
    """

    __slots__ = ("_ahead", "_drawn", "_encode_s", "_laws", "_next", "_scales", "_stream",
                 "_table", "_values")  # fmt: skip

    def __init__(
        self,
        laws: Sequence[AbstractDelayLaw],
        scales: Sequence[float],
        seed: int,
        cause: Cause,
        *,
        encode_s: float = 0.0,
        ahead: int,
    ) -> None:
        self._laws, self._scales, self._encode_s = laws, scales, encode_s
        self._stream, self._ahead = (seed, cause), ahead
        width = ahead + 1
        self._table = np.full((len(laws), width), _USED_UP)
        self._values = self._table.reshape(-1).data
        self._next = (np.arange(len(laws)) * width).data
        self._drawn = np.full(len(laws), ahead).data
        self._fill()

    def draw(self, worker: int, now: float) -> float:
        """The next delay of `worker`, s, whatever the time."""
        at = self._next[worker]
        value = self._values[at]
        if value < 0:
            at = self._refill(worker)
            value = self._values[at]
        self._next[worker] = at + 1
        return value

    def _fill(self) -> None:
        """The first draws of all workers, law by law."""
        kinds: dict[tuple[Hashable, float], list[int]] = {}
        for worker, (law, scale) in enumerate(zip(self._laws, self._scales, strict=True)):
            kinds.setdefault((_known_by(law), scale), []).append(worker)
        for (_, scale), workers in kinds.items():
            law = self._laws[workers[0]]
            self._table[workers, :-1] = self._delays(law, scale, self._first(law, workers))

    def _first(self, law: AbstractDelayLaw, workers: list[int]) -> np.ndarray:
        if isinstance(law, Constant):  # has no use for its draws
            return np.full((len(workers), self._ahead), 0.5)
        return uniform_table(*self._stream, np.array(workers), 0, self._ahead)

    def _refill(self, worker: int) -> int:
        """Make further draws of one worker; returns where they begin."""
        law, first = self._laws[worker], self._drawn[worker]
        u = uniforms(*self._stream, worker, first, self._ahead)
        self._table[worker, :-1] = self._delays(law, self._scales[worker], u)
        self._drawn[worker] = first + self._ahead
        return worker * (self._ahead + 1)

    def _delays(self, law: AbstractDelayLaw, scale: float, u: np.ndarray) -> np.ndarray:
        offset = scale * self._encode_s
        delays = offset + scale * law.quantile(u.reshape(-1)).reshape(u.shape)
        if not (delays >= 0).all():
            raise ValueError(f"{law!r} must draw delays >= 0, got {float(delays.min())!r}.")
        return delays


def _known_by(law: AbstractDelayLaw) -> Hashable:
    """What equal laws share; itself alone for a law whose fields are arrays."""
    try:
        hash(law)
    except TypeError:
        return id(law)
    return law
