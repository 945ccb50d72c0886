"""The constant B of a schedule, exactly, whatever the gradients are.

A view differs from its auxiliary iterate by sum_j c_j G_j, and the schedule knows every c_j.
"""

import numpy as np

from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.validation.estimate import Estimate, exact

_CLIMB = 10_000
_LEVEL = 1e-12
_CANCELLED = 1e-13


def view_difference(schedule: Schedule, sequence: Sequence) -> np.ndarray:
    """(J, blocks, J) coefficients of x_k - v_k; x is the auxiliary iterate of job k.

    They are 0 for a discarded job: nothing was ever done with the gradient at its view. What
    rounding leaves of coefficients that cancel is 0, too: else a bound of 0 would be broken.
    MEAN is meant for synchronous mixing, where the mean of the replicas at a round is the
    aggregate of the earlier rounds.

    Args:
        schedule: A schedule whose jobs are all dropped at its end.
        sequence: STARTED, APPLIED, AGGREGATE or MEAN.
    """
    used = (schedule.jobs.share != 0)[:, None, None]
    difference = _difference(schedule, sequence)
    return np.where(used & (np.abs(difference) > _CANCELLED), difference, 0.0)


def _difference(schedule: Schedule, sequence: Sequence) -> np.ndarray:
    influence = schedule.influence()
    if sequence is Sequence.STARTED:
        return influence.started_difference()
    if sequence in (Sequence.AGGREGATE, Sequence.MEAN):
        return influence.aggregate_difference()
    if sequence is Sequence.APPLIED:
        return influence.views - _applied(schedule)[:, None, :] * influence.shares
    raise ValueError(f"sequence must be one that a schedule alone decides, got {sequence}.")


def _applied(schedule: Schedule) -> np.ndarray:
    """(J, J) whether job j had been stepped into the server before job k was added."""
    rows, n_jobs = schedule.rows, len(schedule.jobs)
    added = np.full(n_jobs, len(rows))
    at = np.flatnonzero((rows.op == Op.ADD) & (rows.job >= 0))
    added[rows.job[at]] = at
    steps = np.flatnonzero(rows.op == Op.STEP)
    stepped = np.append(steps, len(rows))[np.searchsorted(steps, added)]
    return (stepped[None, :] < added[:, None]).astype(float)


def aligned_gap(difference: np.ndarray) -> float:
    """max_k sum_j |c_kj|: B for gradients of norm <= 1 that all point the same way.

    With several blocks it is an upper bound: each gradient counts with its largest coefficient.
    """
    return float(np.abs(difference).max(axis=1).sum(axis=-1).max(initial=0.0))


def aligned_block_gap(difference: np.ndarray, norms: tuple[float, ...]) -> float:
    """B for aligned gradients whose part in block b has norm norms[b].

    max_k sqrt(sum_b (norms[b] sum_j |c_kbj|)^2), exact for torn reads and writes.
    """
    reach = np.abs(difference).sum(axis=-1) * np.array(norms)
    return float(np.linalg.norm(reach, axis=-1).max(initial=0.0))


def noise_gap(difference: np.ndarray) -> float:
    """max_k sqrt(sum_j c_kj^2): B for independent noise of unit variance and no mean."""
    return float(np.sqrt((difference**2).max(axis=1).sum(axis=-1)).max(initial=0.0))


def rms_gap(difference: np.ndarray, rounds: np.ndarray, *, last: int = 1) -> float:
    """Largest root mean square over the nodes of a round, gradients of rms norm <= 1 a round.

    It is max over ||U|| = 1 of sum_s ||D_s' U||, D_s the coefficients of round s in the views
    of the round. That is concave in U U', so the climb from a U of full rank ends at the top;
    every point of it is attained by some gradients.

    Args:
        difference: (J, 1, J) coefficients.
        rounds: (J,) round of each job, every round with equally many jobs.
        last: How many of the last rounds to look at.
    """
    steps = np.unique(rounds)
    members = [np.flatnonzero(rounds == step) for step in steps]
    tops = []
    for step in range(max(1, len(steps) - last), len(steps)):
        views = difference[members[step], 0]
        tops.append(_aligned_norms(np.stack([views[:, m] for m in members[:step]])))
    return max(tops, default=0.0)


def _aligned_norms(blocks: np.ndarray) -> float:
    """max over ||U|| = 1 of sum_s ||D_s' U|| for (S, n, n) blocks D."""
    squares = blocks @ blocks.transpose(0, 2, 1)
    direction = np.eye(blocks.shape[1]) / np.sqrt(blocks.shape[1])
    value = 0.0
    for _ in range(_CLIMB):
        images = squares @ direction
        norms = np.sqrt(np.maximum((images * direction).sum(axis=(1, 2)), 0))
        reached, value = value, float(norms.sum())
        if value <= reached * (1 + _LEVEL):
            break
        weights = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        direction = np.tensordot(weights, images, axes=1)
        direction /= np.linalg.norm(direction)
    return value


def gap_of(schedule: Schedule, sequence: Sequence, *, second_moment: float) -> Estimate:
    """B of a schedule for gradients with E||G||^2 <= M^2, whatever they are; EXACT.

    Args:
        schedule: A schedule with one block whose jobs are all dropped at its end.
        sequence: The auxiliary sequence.
        second_moment: M, not squared.
    """
    value = second_moment * aligned_gap(view_difference(schedule, sequence))
    return exact(value, quantity=Quantity.GAP, sequence=sequence)
