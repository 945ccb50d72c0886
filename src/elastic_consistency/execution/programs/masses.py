"""Masses of push-sum: they follow from the schedule alone, and are the same in all replicates."""

from typing import Any, final

import numpy as np

from elastic_consistency.execution.programs.versions import Occurrences
from elastic_consistency.schedule import Op, Schedule


def follow_masses(mixes: Any, message: Any, replica: Any, weight: Any, keep: Any, mass: Any,
                  carried: Any, after: Any) -> None:  # fmt: skip
    """The interpreter's own arithmetic on masses, row by row.

    Args:
        mixes: For each PUT of a model and each MIX, whether it is a MIX.
        message: Its message.
        replica: Its replica.
        weight: Its weight.
        keep: Its share that is kept; negative where a PUT leaves everything.
        mass: (replicas,) ones.
        carried: (messages,) zeros.
        after: Is filled with the mass of the replica after each row.
    """
    for k in range(len(mixes)):
        r, m = replica[k], message[k]
        if mixes[k]:
            mass[r] = keep[k] * mass[r] + weight[k] * carried[m]
        else:
            carried[m] = carried[m] + weight[k] * mass[r]
            if keep[k] >= 0:
                mass[r] = mass[r] * keep[k]
        after[k] = mass[r]


@final
class Masses:
    """Mass of every replica at every row.

    Args:
        schedule: The schedule.
        compiled: Whether the one loop is compiled.

    Attributes:
        all_one: Whether no replica ever has a mass other than 1.
    """

    def __init__(self, schedule: Schedule, *, compiled: bool) -> None:
        table, n_replicas = schedule.rows, len(schedule.metadata.hosts)
        mixes = table.op == Op.MIX
        rows = np.flatnonzero(mixes | ((table.op == Op.PUT) & (table.replica >= 0)))
        columns = [column[rows] for column in (mixes, table.message, table.replica)]
        columns += [table.weight[rows], table.keep[rows]]
        columns += [np.ones(n_replicas), np.zeros(len(schedule.messages)), np.zeros(len(rows))]
        if compiled:
            from elastic_consistency.execution.programs.compiled_kernels import (
                follow_masses as loop,
            )

            loop(*columns)
            after = columns[-1]
        else:
            listed = [column.tolist() for column in columns]
            follow_masses(*listed)
            after = np.array(listed[-1])
        self._rows = Occurrences(rows, table.replica[rows], n_rows=len(table))
        self._after = np.append(after, 1.0)
        self.all_one = bool((after == 1.0).all())

    def before(self, replica: np.ndarray, row: np.ndarray) -> np.ndarray:
        """(K,) float64 mass of each replica just before each row."""
        return self._after[self._rows.before(replica, row)]
