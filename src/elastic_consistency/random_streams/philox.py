"""Keys and words of many streams at a time, with the bits of numpy.random.

NumPy makes a generator object for each stream. Where thousands of workers draw a few numbers
each, that object costs more than the numbers; whole arrays of streams cost 50 ns a word.
"""

import numpy as np

WORDS = 4  # Philox4x64 turns one counter into four 64-bit words.
_ROUNDS = 10
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B))
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)

_POOL = 4  # words in which SeedSequence keeps its entropy
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_SHIFT = np.uint32(16)


def keys_of(seed: int, cause: int, words: np.ndarray) -> np.ndarray:
    """Keys of SeedSequence(seed, spawn_key=(cause, word)) for many words.

    Args:
        seed: Entropy, >= 0, of any length.
        cause: First word of the spawn key, in [0, 2**32).
        words: (N,) last word of each spawn key, in [0, 2**32).

    Returns:
        (N, 2) uint64: generate_state(2, uint64) of each.

    Source: O'Neill (2015), Developing a seed_seq Alternative; numpy.random.SeedSequence.
    """
    pool = np.random.SeedSequence(seed, spawn_key=(cause,)).pool
    seed_words = max(_POOL, -(-seed.bit_length() // 32))
    # SeedSequence hashes the pool once, each of its words into the others, each further into all.
    hashed = _POOL * _POOL + _POOL * (seed_words + 1 - _POOL)
    constant = _INIT_A * pow(_MULT_A, hashed, 2**32)
    mixed = []
    for word in pool:
        value, constant = _hashed(words.astype(np.uint32), constant, _MULT_A)
        value = _MIX_LEFT * np.full_like(value, word) - _MIX_RIGHT * value
        mixed.append(value ^ (value >> _SHIFT))
    constant, state = _INIT_B, []
    for value in mixed:
        hashed_value, constant = _hashed(value, constant, _MULT_B)
        state.append(hashed_value.astype(np.uint64))
    return np.stack([state[0] | state[1] << _HALF, state[2] | state[3] << _HALF], axis=1)


def _hashed(value: np.ndarray, constant: int, multiplier: int) -> tuple[np.ndarray, int]:
    constant %= 2**32
    following = constant * multiplier % 2**32
    value = (value ^ np.uint32(constant)) * np.uint32(following)
    return value ^ (value >> _SHIFT), following


def words_of(keys: np.ndarray, first: int, count: int) -> np.ndarray:
    """The words that Philox draws from some of its counters.

    Args:
        keys: (N, 2) uint64.
        first: The counter before the first one, >= -1; NumPy adds one before it draws.
        count: Number of counters.

    Returns:
        (N, 4 * count) uint64: Philox(key=key, counter=first).random_raw(4 * count) of each.

    Source: Salmon, Moraes, Dror, Shaw (2011), Parallel Random Numbers: As Easy as 1, 2, 3.
    """
    counters = np.arange(first + 1, first + 1 + count, dtype=np.uint64)
    a = np.broadcast_to(counters, (len(keys), count))
    b = c = d = np.zeros_like(a)
    left, right = keys[:, :1], keys[:, 1:]
    for number in range(_ROUNDS):
        if number:
            left, right = left + _WEYL[0], right + _WEYL[1]
        high_a, low_a = _products(a, _MULTIPLIERS[0])
        high_c, low_c = _products(c, _MULTIPLIERS[1])
        high_c ^= b
        high_c ^= left
        high_a ^= d
        high_a ^= right
        a, b, c, d = high_c, low_c, high_a, low_a
    return np.stack([a, b, c, d], axis=-1).reshape(len(keys), WORDS * count)


def _products(values: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """High and low 64 bits of values * factor, from products of halves."""
    factor_low, factor_high = np.uint64(factor & 0xFFFFFFFF), np.uint64(factor >> 32)
    low, high = values & _LOW, values >> _HALF
    total = low * factor_low
    total >>= _HALF
    total += high * factor_low
    middle = total & _LOW
    low *= factor_high
    middle += low
    middle >>= _HALF
    total >>= _HALF
    high *= factor_high
    total += middle
    total += high
    return total, values * np.uint64(factor)
