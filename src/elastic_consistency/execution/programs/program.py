"""A program: what a schedule without messages and blocks asks for, as instructions on slots.

READ, ENCODE and DROP leave no instruction: a view is the slot of the version that was read, and
an ADD that is stepped at once is one instruction. The executor's rows stay the specification;
a program gives the same bits.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import final

import numpy as np


class Do(IntEnum):
    """What an instruction does.

    GRADIENT   target = gradient at view
    FIRST      target = factor * gradient of the job, into an empty buffer
    MORE       target = target + factor * gradient of the job
    STEP       target = the rule's step from model with buffer
    APPLY      FIRST and STEP in one
    """

    GRADIENT = 0
    FIRST = 1
    MORE = 2
    STEP = 3
    APPLY = 4


@final
@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Instructions in order, one entry each; I of them. Slots are -1 where there are none.

    Attributes:
        do: (I,) int8, a member of Do.
        row: (I,) int64, the row of the schedule that the instruction completes.
        job: (I,) int64, -1 for STEP.
        worker: (I,) int64, who computes the job; -1 for STEP.
        replica: (I,) int64, -1 for GRADIENT.
        factor: (I,) float64, weight times the rule's scale.
        view: (I,) int64 slot of the model that the job read.
        gradient: (I,) int64 slot of the job's gradient; -1 if it is computed where it is used.
        model: (I,) int64 slot of the recipient's model before the instruction.
        buffer: (I,) int64 slot of the recipient's buffer.
        target: (I,) int64 slot that is written.
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
    view: np.ndarray
    gradient: np.ndarray
    model: np.ndarray
    buffer: np.ndarray
    target: np.ndarray
    n_slots: int
    final: tuple[int, ...]
    eager: bool

    def __len__(self) -> int:
        return len(self.do)
