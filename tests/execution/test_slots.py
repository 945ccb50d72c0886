"""Slots are never shared by values that live together, and there are no more than needed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.execution.programs.slots import assign_slots

LIVES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=40)


def born_and_dead(lives):
    """Births that never decrease by at most one a value, as instructions write one value each."""
    birth = np.cumsum([1 + gap for gap, _ in lives])
    return birth, birth + np.array([length for _, length in lives])


@pytest.mark.parametrize("compiled", [False, True])
@given(lives=LIVES)
def test_values_that_live_together_have_different_slots(compiled, lives):
    birth, death = born_and_dead(lives)

    slots, n_slots = assign_slots(birth, death, compiled=compiled)

    for v in range(len(birth)):
        for w in range(v):
            # The earlier one may be read last in the instruction that writes the later one.
            together = death[w] > birth[v] or birth[w] == birth[v]
            assert not (together and slots[v] == slots[w])
    assert slots.max() + 1 == n_slots


@given(LIVES)
def test_there_are_as_many_slots_as_values_alive_at_a_time(lives):
    birth, death = born_and_dead(lives)
    death = np.maximum(death, birth + 1)

    _, n_slots = assign_slots(birth, death)

    alive = max(int(((birth <= t) & (death > t)).sum()) for t in range(int(death.max())))
    assert n_slots == alive


@given(LIVES)
def test_the_compiled_loop_gives_the_same_slots(lives):
    birth, death = born_and_dead(lives)

    slots, n_slots = assign_slots(birth, death)
    compiled, n_compiled = assign_slots(birth, death, compiled=True)

    assert np.array_equal(slots, compiled)
    assert n_slots == n_compiled
