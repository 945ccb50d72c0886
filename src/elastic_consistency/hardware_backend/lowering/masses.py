"""Push-sum masses: they follow from the schedule alone, so no rank needs to send them."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule import ABSENT, Op, Schedule


@final
@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """Masses as the executor computes them, operation by operation.

    Attributes:
        before: (E,) float64, mass of the row's replica before the row; 1 for rows without one.
        messages: (M,) float64, mass of each message once all its PUT rows are done.
    """

    before: np.ndarray
    messages: np.ndarray


def measure_masses(schedule: Schedule) -> Masses:
    """Walk the rows that read or change a mass."""
    table = schedule.rows
    before = np.ones(len(table))
    messages = np.zeros(len(schedule.messages))
    replicas = np.ones(len(schedule.metadata.hosts))
    moves = (table.op == Op.MIX) | ((table.op == Op.PUT) & (table.replica != ABSENT))
    if not moves.any():
        return Masses(before, messages)
    for row in np.flatnonzero(moves | (table.op == Op.READ)).tolist():
        replica, message = table.replica[row], table.message[row]
        before[row] = replicas[replica]
        weight, keep = table.weight[row], table.keep[row]
        if table.op[row] == Op.PUT:
            messages[message] += weight * replicas[replica]
            if keep >= 0:
                replicas[replica] *= keep
        elif table.op[row] == Op.MIX:
            replicas[replica] = keep * replicas[replica] + weight * messages[message]
    return Masses(before, messages)
