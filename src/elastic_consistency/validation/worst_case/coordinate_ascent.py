"""Coordinate ascent over a sequence of choices, such as whose update arrives next."""

from collections.abc import Callable, Sequence

import numpy as np


def coordinate_ascent(
    objective: Callable[[list[int]], float],
    start: Sequence[int],
    n_choices: int,
    *,
    sweeps: int = 5,
    seed: int = 0,
) -> tuple[list[int], float]:
    """The best sequence found by changing one entry at a time, in a random order of places.

    It ends when a sweep changes nothing: no single change improves the result.

    Args:
        objective: Figure to be made large.
        start: First sequence, entries in 0 .. n_choices - 1.
        n_choices: Choices at each place.
        sweeps: Largest number of passes over all places.
        seed: Seed of the order of places.

    Returns:
        The sequence and its figure.
    """
    rng, best = np.random.default_rng(seed), list(start)
    value = objective(best)
    for _ in range(sweeps):
        before = value
        for place in rng.permutation(len(best)).tolist():
            for choice in range(n_choices):
                trial = [*best[:place], choice, *best[place + 1 :]]
                if trial != best and (reached := objective(trial)) > value:
                    best, value = trial, reached
        if value == before:
            break
    return best, value
