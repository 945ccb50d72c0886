"""Exact influence of every job on every view: the schedule executed with one-hot gradients.

For an additive rule with unit step size and linear codecs, view k is
x_0 - sum_j C[k, j] G_j. This file restates what each operation does on coefficients; it shares
no code with the executor, so the two check each other.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule.errors import ScheduleError
from elastic_consistency.schedule.ops import Op
from elastic_consistency.schedule.table import Schedule

_LARGEST = 2**31  # bytes of coefficients; larger schedules need windows of jobs


@final
@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """Coefficients of jobs in views and at the end.

    Attributes:
        views: (J, blocks, J) float64; entry [k, b, j] is the coefficient of G_j in block b of
            the view of job k.
        final: (blocks, J) float64; coefficients of the mass-weighted mean of all replicas and
            live messages at the end of the schedule.
        shares: (blocks, J) float64; the weight of each job in the auxiliary sequence.
        rounds: (J,) int64; the synchronous round of each job, -1 for none.
        discarded: (J,) bool; jobs of share 0, whose views matter to nobody.
    """

    views: np.ndarray
    final: np.ndarray
    shares: np.ndarray
    rounds: np.ndarray
    discarded: np.ndarray

    def started_difference(self) -> np.ndarray:
        """(J, blocks, J): coefficients of x_k - v_k, x the started sequence; jobs in order."""
        return self._difference(np.tri(len(self.views), k=-1))

    def aggregate_difference(self) -> np.ndarray:
        """(J, blocks, J): coefficients of x_k - v_k, x the aggregate of earlier rounds."""
        return self._difference(self.rounds[None, :] < self.rounds[:, None])

    def _difference(self, earlier: np.ndarray) -> np.ndarray:
        difference = self.views - earlier[:, None, :] * self.shares
        difference[self.discarded] = 0
        return difference


def largest_gap(difference: np.ndarray) -> float:
    """Largest ||x - v|| / step size over all views when every gradient has norm at most 1.

    Exact with one block (aligned gradients attain it); with more blocks an upper bound, since
    a gradient of norm 1 is counted once with its largest coefficient.
    """
    return float(np.abs(difference).max(axis=1).sum(axis=-1).max(initial=0.0))


def noise_gap(difference: np.ndarray) -> float:
    """Largest ||x - v||_L2 / step size over all views for independent noise of unit variance.

    With more blocks the noise is spread over them in the proportion that is worst.
    """
    return float(np.sqrt((difference**2).max(axis=1).sum(axis=-1)).max(initial=0.0))


def compute_influence(schedule: Schedule) -> Influence:
    """Execute the schedule on coefficients.

    Raises:
        ScheduleError: If the coefficients would not fit into 2 GiB.
    """
    n_jobs, blocks = len(schedule.jobs), schedule.metadata.n_blocks
    if n_jobs**2 * blocks * 8 > _LARGEST:
        raise ScheduleError(
            "size", f"influence needs {n_jobs}^2 x {blocks} coefficients; take fewer jobs"
        )
    state = _Coefficients(schedule)
    for rows in schedule.chunks():
        columns = (rows.op, rows.job, rows.message, rows.replica, rows.block)
        numbers = (column.tolist() for column in columns)
        for row in zip(*numbers, rows.weight.tolist(), rows.keep.tolist(), strict=True):
            state.apply(*row)
    discarded = schedule.jobs.share == 0
    return Influence(
        state.views, state.mean_of_what_lives(), state.shares(), schedule.jobs.round, discarded
    )


@final
class _Coefficients:
    def __init__(self, schedule: Schedule) -> None:
        jobs, meta = schedule.jobs, schedule.metadata
        self._shape = (meta.n_blocks, len(jobs))
        self._share = np.nan_to_num(jobs.share)
        self._declared = jobs.block
        self.views = np.zeros((len(jobs), *self._shape))
        self._x = np.zeros((len(meta.hosts), *self._shape))
        self._mass = np.ones(len(meta.hosts))
        self._buffer = np.zeros((len(meta.hosts), *self._shape))
        self._messages: dict[int, tuple[np.ndarray, float]] = {}

    def apply(
        self, op: int, job: int, message: int, replica: int, block: int, weight: float, keep: float
    ) -> None:
        part = slice(None) if block < 0 else slice(block, block + 1)
        if op == Op.READ:
            self.views[job, part] = self._x[replica, part] / self._mass[replica]
        elif op == Op.ADD and job >= 0:
            self._buffer[replica, part, job] += weight
        elif op == Op.ADD:
            self._buffer[replica, part] += weight * self._messages[message][0][part]
        elif op == Op.STEP:
            self._x[replica, part] += self._buffer[replica, part]
            self._buffer[replica, part] = 0
        elif op == Op.PUT:
            self._put(job, message, replica, part, weight, keep)
        elif op == Op.MIX:
            vector, mass = self._messages[message]
            self._x[replica] = keep * self._x[replica] + weight * vector
            self._mass[replica] = keep * self._mass[replica] + weight * mass
        elif op == Op.DROP and message >= 0:
            del self._messages[message]

    def _put(
        self, job: int, message: int, replica: int, part: slice, weight: float, keep: float
    ) -> None:
        vector, mass = self._messages.get(message, (np.zeros(self._shape), 0.0))
        if job >= 0:
            vector[part, job] += weight
        else:
            vector = vector + weight * self._x[replica]
            mass += weight * self._mass[replica]
            if keep >= 0:
                self._x[replica] *= keep
                self._mass[replica] *= keep
        self._messages[message] = (vector, mass)

    def mean_of_what_lives(self) -> np.ndarray:
        # A message of updates has no mass: it is on its way to a replica that will add it.
        vector = self._x.sum(axis=0)
        mass = self._mass.sum()
        for extra, extra_mass in self._messages.values():
            if extra_mass:
                vector, mass = vector + extra, mass + extra_mass
        return vector / mass

    def shares(self) -> np.ndarray:
        share = np.tile(self._share, (self._shape[0], 1))
        for block in range(self._shape[0]):
            elsewhere = (self._declared >= 0) & (self._declared != block)
            share[block, elsewhere] = 0
        return share
