"""Slots: which array holds which value of a program, so that dying arrays are written again."""

import numpy as np


def assign_slots(birth: np.ndarray, death: np.ndarray) -> tuple[np.ndarray, int]:
    """Slot of every value, and how many slots there are: as many as values live at a time.

    A value that dies in an instruction leaves its slot to the one that is born there; the slot
    freed last is filled first, since it is the one still in the cache.

    Args:
        birth: (V,) int64, non-decreasing; instruction that writes the value.
        death: (V,) int64, >= birth; last instruction that reads it.

    Returns:
        (V,) int64 slots from 0, and their number.
    """
    by_death = np.argsort(death, kind="stable")
    # How many values have died when value v is born; a value never waits for its own death.
    freed = np.searchsorted(death[by_death], birth, side="right").tolist()
    order = by_death.tolist()
    slots: list[int] = [0] * len(order)
    free: list[int] = []
    n_slots = n_freed = 0
    for value, n_dead in enumerate(freed):
        while n_freed < n_dead and order[n_freed] < value:
            free.append(slots[order[n_freed]])
            n_freed += 1
        if free:
            slots[value] = free.pop()
        else:
            slots[value] = n_slots
            n_slots += 1
    return np.array(slots, np.int64), n_slots
