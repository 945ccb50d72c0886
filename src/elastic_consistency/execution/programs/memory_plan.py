"""The memory of an execution, known before it runs."""

from dataclasses import dataclass, fields
from typing import final

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.in_place_steps import is_plain_descent
from elastic_consistency.execution.programs.program import Program
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What a program needs, apart from the schedule and the data of the oracle.

    Attributes:
        live: Arrays alive at a time, at most: versions that somebody still needs, and gradients
            and buffers in flight. No execution that keeps the views can do with fewer.
        base: Further arrays, however long the schedule: the start, scratch space, constants of
            the oracle, states of replicas, one difference for the gaps.
        array_bytes: Of one (R, d) array.
        table_bytes: Of the instructions.
    """

    live: int
    base: int
    array_bytes: int
    table_bytes: int

    @property
    def predicted_bytes(self) -> int:
        """Peak memory of the execution."""
        return (self.live + self.base) * self.array_bytes + self.table_bytes


def plan_memory(
    program: Program,
    oracle: AbstractOracle,
    rule: AbstractRule,
    start: np.ndarray,
    watches: tuple[Watch, ...],
) -> MemoryPlan:
    """The plan of a program on NumPy arrays."""
    states = 0 if is_plain_descent(rule) else len(program.final)
    gaps = sum(watch.moment is not Moment.STEPPED for watch in watches)
    started = any(watch.moment is Moment.STARTED for watch in watches)
    # The start and scratch space; spectrum and optimum, or one gradient of an oracle that cannot
    # write to a given array; two results at a look; a difference and a minimiser per sequence.
    base = 2 + 2 + 2 + states + 2 * gaps + started
    columns = (getattr(program, column.name) for column in fields(program))
    tables = sum(column.nbytes for column in columns if isinstance(column, np.ndarray))
    return MemoryPlan(program.n_slots, base, start.nbytes, tables)
