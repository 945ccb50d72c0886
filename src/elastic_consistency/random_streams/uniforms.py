"""Uniforms by their address: of one stream, or of many workers at a time."""

from enum import IntEnum
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from elastic_consistency.random_streams.philox import WORDS, keys_of, words_of

_LARGEST = 1 - 2.0**-53
_TILE = 1024  # counters whose words are made at a time: they stay in the cache
_FEW = 24  # counters of one worker; beyond, a generator for each worker is faster


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


@final
class _Key(ISeedSequence):
    """A key that has been made already, in the place of a seed.

    Philox(key=...) asks the operating system for entropy first, only to throw it away.
    """

    __slots__ = ("_words",)

    def __init__(self, words: np.ndarray) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        return self._words


@lru_cache(maxsize=4096)
def _key(seed: int, cause: int, worker: int) -> _Key:
    # spawn_key takes no negative number, and the server is worker -1.
    sequence = np.random.SeedSequence(seed, spawn_key=(cause, worker + 1))
    return _Key(_as_numbers(sequence.generate_state(2, np.uint64)[None])[0])


def _as_numbers(keys: np.ndarray) -> np.ndarray:
    """Keys as NumPy reads pairs of Python integers, which is what seeds have always meant.

    Where one of the two is 2**63 or more and the other is less, both are floats on the way.
    """
    mixed = (keys >= np.uint64(2**63)).sum(axis=1) == 1
    keys[mixed] = keys[mixed].astype(np.float64).astype(np.uint64)
    return keys


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
    return _in_unit_interval(_raw(_key(seed, cause, worker), first, count))


def uniform_table(
    seed: int, cause: Cause, workers: np.ndarray, first: int, count: int
) -> np.ndarray:
    """Row k is uniforms(seed, cause, workers[k], first, count).

    Args:
        seed: Seed of the run, >= 0.
        cause: What the streams decide.
        workers: (N,) workers that draw, -1 for the server.
        first: Position of the first draw of each, >= 0.
        count: Number of draws of each, >= 0.

    Returns:
        (N, count) float64 in the open interval (0, 1).
    """
    table = np.empty((len(workers), count))
    keys = _as_numbers(keys_of(seed, cause, np.asarray(workers) + 1))
    counter, skipped = divmod(first, WORDS)
    counters = -(-(skipped + count) // WORDS)
    if counters > _FEW:
        for row, key in zip(table, keys, strict=True):
            row[:] = _in_unit_interval(_raw(_Key(key), first, count))
        return table
    tile = _TILE // max(1, counters)
    for start in range(0, len(workers), tile):
        words = words_of(keys[start : start + tile], counter, counters)
        table[start : start + tile] = _in_unit_interval(words[:, skipped : skipped + count])
    return table


def _raw(key: _Key, first: int, count: int) -> np.ndarray:
    counter, skipped = divmod(first, WORDS)
    # NumPy's stubs know of no other sequence than SeedSequence; its documentation does.
    generator = np.random.Philox(key, counter=counter)  # type: ignore[arg-type]
    return generator.random_raw(skipped + count)[skipped:]


def _in_unit_interval(words: np.ndarray) -> np.ndarray:
    # 53 bits and half a step, so that 0 is never returned; the largest word rounds up to 1.
    values = (words >> np.uint64(11)).astype(np.float64)
    values += 0.5
    values *= 2.0**-53
    return np.minimum(values, _LARGEST, out=values)
