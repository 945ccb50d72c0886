"""Which slot holds each replica's present model, and its mass."""

from typing import Any, final

import numpy as np

from elastic_consistency.execution.programs.program import WRITES, Program, among


@final
class Latest:
    """Follows a program; at first all replicas hold the first model.

    Args:
        program: The program.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._slot = np.zeros(len(program.final), np.int64)
        self._mass = np.ones(len(program.final))

    def follow(self, first: int, last: int) -> None:
        """Note what the instructions from `first` up to `last` have written."""
        program = self._program
        written = first + np.flatnonzero(among(program.do[first:last], WRITES))
        self._slot[program.replica[written]] = program.target[written]
        if program.mass is not None:
            self._mass[program.replica[written]] = program.mass[written]

    def slot(self, replica: int) -> int:
        """Slot of a replica's model."""
        return int(self._slot[replica])

    def model(self, replica: int, x: Any) -> Any:
        """A model that shares nothing with the slots, from what they hold."""
        mass = float(self._mass[replica])
        return x.copy() if mass == 1.0 else x / mass


def model_after(program: Program, instruction: int, x: Any) -> Any:
    """What an instruction that wrote x makes of a replica: x divided by its mass."""
    mass = 1.0 if program.mass is None else float(program.mass[instruction])
    return x if mass == 1.0 else x / mass
