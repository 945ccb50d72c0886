"""What every layer-wise protocol states about its schedules."""

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)


def require_layerwise(
    schedule: Schedule, layers: int, *, lag: int, barrier: bool, stand_in: float, rule: str
) -> None:
    """Forward and backward in order, one message a layer and step, waits as they must be.

    Args:
        schedule: The schedule.
        layers: Number of layers.
        lag: Steps by which a layer may be late.
        barrier: Whether a forward pass waits for all layers instead of its own.
        stand_in: Weight with which the own update stands in for a late layer.
        rule: Short name of the rule.

    Raises:
        ScheduleError: If something else happened.
    """
    rows, jobs, p = schedule.rows, schedule.jobs, schedule.metadata.n_workers
    ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.PUT, Op.ADD, Op.STEP, Op.DROP)
    require_only(schedule, ops, rule)
    share = jobs.share[~np.isnan(jobs.share)]
    refuse_unless(bool((share == 1 / p).all()), rule, "a share is 1/p")
    read, encode = (np.flatnonzero(rows.op == op) for op in (Op.READ, Op.ENCODE))
    own = rows.replica[read] == rows.worker[read]
    require_everywhere(own, read, rule, "a worker reads its own replica")
    upward = np.lexsort((read, rows.job[read]))
    in_order = rows.block[read[upward]] == np.arange(len(read)) % layers
    require_everywhere(in_order, read[upward], rule, "forward runs from the first layer")
    downward = np.lexsort((encode, rows.job[encode]))
    in_order = rows.block[encode[downward]] == layers - 1 - np.arange(len(encode)) % layers
    require_everywhere(in_order, encode[downward], rule, "backward runs from the last layer")
    put = np.flatnonzero(rows.op == Op.PUT)
    weighed = (rows.weight[put] == 1 / p) & (rows.op[put - 1] == Op.ENCODE)
    require_everywhere(weighed, put, rule, "a layer is sent as it is ready, with weight 1/p")
    refuse_unless(len(put) == len(encode), rule, "every layer is sent")
    steps = np.flatnonzero(rows.op == Op.STEP)
    refuse_unless(bool((rows.op[steps - 1] == Op.ADD).all()), rule, "a step takes what was added")
    _require_waits(schedule, layers, lag, stand_in, rule, barrier=barrier)


def _contents(schedule: Schedule, rule: str) -> dict[int, tuple[tuple[int, int], set[int]]]:
    """Step and layer of each message, and who has put something into it."""
    rows, jobs = schedule.rows, schedule.jobs
    contents: dict[int, tuple[tuple[int, int], set[int]]] = {}
    for row in np.flatnonzero(rows.op == Op.PUT).tolist():
        key = (int(jobs.round[rows.job[row]]), int(rows.block[row]))
        known = contents.setdefault(int(rows.message[row]), (key, set()))
        known[1].add(int(jobs.worker[rows.job[row]]))
        refuse_unless(known[0] == key, rule, "a message is one layer of one step", row=row)
    return contents


def _require_waits(
    schedule: Schedule, layers: int, lag: int, stand_in: float, rule: str, *, barrier: bool
) -> None:
    """A forward pass has waited for what it must; stand-ins come and go."""
    rows, jobs, p = schedule.rows, schedule.jobs, schedule.metadata.n_workers
    contents = _contents(schedule, rule)
    done = np.full((p, layers), -1)  # last step that each replica has of each layer
    stood_in: set[tuple[int, int, int]] = set()
    for row in range(len(rows)):
        op, node, layer = rows.op[row], int(rows.replica[row]), int(rows.block[row])
        if op == Op.READ:
            step = int(jobs.round[rows.job[row]])
            needed = done[node] if barrier else done[node, layer : layer + 1]
            waited = bool((needed >= step - 1 - lag).all())
            refuse_unless(waited, rule, "forward waits for its layers", row=row)
            late = bool(done[node, layer] < step - 1)
            there = (node, step - 1, layer) in stood_in
            refuse_unless(late == there, rule, "a stand-in for what is late", row=row)
        elif op == Op.ADD and rows.job[row] >= 0:
            key = (node, int(jobs.round[rows.job[row]]), layer)
            sign = -1.0 if key in stood_in else 1.0
            fits = bool(jobs.worker[rows.job[row]] == node) and lag == 1
            fits = fits and rows.weight[row] == sign * stand_in
            refuse_unless(fits, rule, "one's own layer stands in", row=row)
            stood_in ^= {key}
        elif op == Op.ADD:
            key, senders = contents[int(rows.message[row])]
            fits = key == (done[node, layer] + 1, layer) and len(senders) == p
            fits = fits and rows.weight[row] == 1 and (node, *key) not in stood_in
            refuse_unless(fits, rule, "steps of a layer come in order", row=row)
            done[node, layer] += 1
    drained = not np.isnan(jobs.share).any()
    refuse_unless(not (drained and stood_in), rule, "every stand-in is taken back")
