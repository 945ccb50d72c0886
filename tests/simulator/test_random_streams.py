"""Uniforms of many workers at a time have the bits of NumPy's own generators, one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.random_streams import Cause, uniform_table, uniforms
from elastic_consistency.random_streams.philox import keys_of, words_of

# SeedSequence takes seeds of any length; beyond 128 bits it hashes more words.
seeds = st.one_of(st.integers(0, 9), st.integers(0, 2**200))
causes = st.sampled_from(Cause)
workers = st.lists(st.integers(-1, 2**31 - 2), min_size=1, max_size=4)


def _generator(seed: int, cause: int, worker: int, first: int) -> np.random.Philox:
    sequence = np.random.SeedSequence(seed, spawn_key=(cause, worker + 1))
    key = sequence.generate_state(2, np.uint64)
    # A tuple and not an array: NumPy reads a mixture of large and small integers as floats.
    return np.random.Philox(key=tuple(key.tolist()), counter=first // 4)


@given(seeds, causes, workers, st.integers(0, 2**40), st.integers(0, 130))
def test_a_table_has_the_bits_of_one_generator_a_worker(seed, cause, workers, first, count):
    """With few draws a worker it is made by array operations, with more by generators."""
    table = uniform_table(seed, cause, np.array(workers), first, count)

    assert table.shape == (len(workers), count)
    for row, worker in zip(table, workers, strict=True):
        words = _generator(seed, cause, worker, first).random_raw(first % 4 + count)[first % 4 :]
        middles = (words >> np.uint64(11)).astype(np.float64) + 0.5
        expected = np.minimum(middles / 2**53, 1 - 2.0**-53)
        assert row.tobytes() == expected.tobytes()
        assert row.tobytes() == uniforms(seed, cause, worker, first, count).tobytes()


def test_rows_do_not_depend_on_where_a_table_is_cut():
    """A table of 3,000 workers is made in several pieces."""
    table = uniform_table(5, Cause.COMPUTE, np.arange(3000), 3, 6)

    for worker in (0, 511, 512, 1024, 2999):
        assert table[worker].tobytes() == uniforms(5, Cause.COMPUTE, worker, 3, 6).tobytes()


@given(seeds, causes, workers)
def test_keys_are_those_of_seed_sequences(seed, cause, workers):
    words = np.array(workers) + 1

    keys = keys_of(seed, cause, words)

    expected = [
        np.random.SeedSequence(seed, spawn_key=(cause, word)).generate_state(2, np.uint64)
        for word in words.tolist()
    ]
    assert keys.tolist() == np.array(expected).tolist()


def test_words_are_those_of_the_published_test_vector():
    """Random123, kat_vectors, philox4x64 with 10 rounds: key and counter are all zeros."""
    words = words_of(np.zeros((1, 2), np.uint64), -1, 1)[0]

    assert [f"{word:016x}" for word in words] == [
        "16554d9eca36314c", "db20fe9d672d0fdc", "d7e772cee186176b", "7e68b68aec7ba23b"
    ]  # fmt: skip
