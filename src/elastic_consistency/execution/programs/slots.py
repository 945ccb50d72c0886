"""Slots: which array holds which value of a program, so that dying arrays are written again."""

import numpy as np


def assign_slots(
    birth: np.ndarray, death: np.ndarray, *, compiled: bool = False
) -> tuple[np.ndarray, int]:
    """Slot of every value, and how many slots there are: as many as values live at a time.

    A value that dies in an instruction leaves its slot to the one that is born there; the slot
    freed last is filled first, since it is the one still in the cache.

    Args:
        birth: (V,) int64, non-decreasing; instruction that writes the value.
        death: (V,) int64, >= birth; last instruction that reads it.
        compiled: Whether the loop over values is compiled.

    Returns:
        (V,) int64 slots from 0, and their number.
    """
    # A value that nobody reads keeps its slot while it is written.
    death = np.maximum(death, birth + 1)
    by_death = np.argsort(death, kind="stable")
    freed = np.searchsorted(death[by_death], birth, side="right")
    if not compiled:
        return _fill(by_death.tolist(), freed.tolist())
    from elastic_consistency.execution.programs.compiled_kernels import fill_slots

    slots = np.empty(len(birth), np.int64)
    return slots, fill_slots(by_death, freed, slots, np.empty(len(birth), np.int64))


def _fill(by_death: list[int], freed: list[int]) -> tuple[np.ndarray, int]:
    slots = [0] * len(freed)
    free: list[int] = []
    n_slots = n_freed = 0
    for value, n_dead in enumerate(freed):
        while n_freed < n_dead:
            free.append(slots[by_death[n_freed]])
            n_freed += 1
        if free:
            slots[value] = free.pop()
        else:
            slots[value] = n_slots
            n_slots += 1
    return np.array(slots, np.int64), n_slots
