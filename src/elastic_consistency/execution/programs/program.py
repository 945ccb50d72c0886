"""A program: what a schedule of one block asks for, as instructions on slots.

READ, ENCODE, DROP and CRASH leave no instruction: a view is the slot of the version that was
read, and an ADD that is stepped at once is one instruction. The executor's rows stay the
specification; a program gives the same bits.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import final

import numpy as np


class Do(IntEnum):
    """What an instruction does.

    GRADIENT   target = gradient at view
    FIRST      target = factor * source, into an empty buffer
    MORE       target = target + factor * source
    STEP       target = the rule's step from model with buffer
    APPLY      FIRST and STEP in one
    PUT        target = factor * source, the first of a message
    PUT_MORE   target = target + factor * source
    KEEP       target = factor * source, what a PUT leaves with its donor
    MIX        target = keep * model + factor * source, or factor * source where keep is 0
    DIVIDE     target = source / factor, a view of a model whose mass is not 1
    """

    GRADIENT = 0
    FIRST = 1
    MORE = 2
    STEP = 3
    APPLY = 4
    PUT = 5
    PUT_MORE = 6
    KEEP = 7
    MIX = 8
    DIVIDE = 9


#: Instructions that add an update, that step, and that write a model in whatever way.
ADDS = (Do.FIRST, Do.MORE, Do.APPLY)
STEPS = (Do.STEP, Do.APPLY)
WRITES = (Do.STEP, Do.APPLY, Do.KEEP, Do.MIX)


def among(do: np.ndarray, kinds: tuple[Do, ...]) -> np.ndarray:
    """(I,) bool, whether each instruction is of one of these kinds."""
    is_one = np.zeros(len(Do), bool)
    is_one[list(kinds)] = True
    return is_one[do]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Instructions in order, one entry each; I of them. Slots are -1 where there are none.

    Attributes:
        do: (I,) int8, a member of Do.
        row: (I,) int64, the row of the schedule that the instruction completes.
        job: (I,) int64, -1 where there is none.
        worker: (I,) int64, who computes the job; -1 where there is none.
        replica: (I,) int64, -1 where there is none.
        factor: (I,) float64, weight times the rule's scale; the mass for DIVIDE.
        keep: (I,) float64, for MIX.
        view: (I,) int64 slot of the model that the job read.
        source: (I,) int64 slot of the gradient, model or message that is used; -1 if it is a
            gradient that is computed where it is used.
        model: (I,) int64 slot of the replica's model before the instruction.
        buffer: (I,) int64 slot of the recipient's buffer.
        target: (I,) int64 slot that is written.
        mass: (I,) float64, mass of the replica after an instruction that writes its model; None
            if all masses are 1.
        n_slots: Arrays alive at a time, at most; the first model is in slot 0.
        final: Slot of each replica's last model.
        eager: Whether gradients are computed at their GRADIENT row.
    """

    do: np.ndarray
    row: np.ndarray
    job: np.ndarray
    worker: np.ndarray
    replica: np.ndarray
    factor: np.ndarray
    keep: np.ndarray
    view: np.ndarray
    source: np.ndarray
    model: np.ndarray
    buffer: np.ndarray
    target: np.ndarray
    mass: np.ndarray | None
    n_slots: int
    final: tuple[int, ...]
    eager: bool

    def __len__(self) -> int:
        return len(self.do)
