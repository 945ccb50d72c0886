"""What several protocols state about their schedules."""

import numpy as np

from elastic_consistency.schedule import Op, Schedule, ScheduleError

#: Operations of a job that is applied by itself, in order.
APPLIED_ALONE = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.DROP)


def refuse_unless(
    condition: bool,  # noqa: FBT001  (reads as a claim)
    rule: str,
    message: str,
    *,
    row: int = -1,
) -> None:
    """Raise ScheduleError unless `condition` holds."""
    if not condition:
        raise ScheduleError(rule, message, row=row)


def require_everywhere(holds: np.ndarray, at: np.ndarray, rule: str, message: str) -> None:
    """Raise ScheduleError at the first row where `holds` is false.

    Args:
        holds: (N,) bool.
        at: (N,) row numbers.
        rule: Short name of the rule.
        message: What must be true.
    """
    broken = np.flatnonzero(~holds)
    if len(broken):
        raise ScheduleError(rule, message, row=int(at[broken[0]]))


def require_only(schedule: Schedule, ops: tuple[Op, ...], rule: str) -> None:
    """Refuse a schedule with operations that the protocol does not know."""
    known = np.isin(schedule.rows.op, ops)
    names = ", ".join(op.name for op in ops)
    require_everywhere(known, np.arange(len(known)), rule, f"the only operations are {names}")


def rows_of_jobs(
    schedule: Schedule, life: tuple[Op, ...], rule: str, *, lost: np.ndarray | None = None
) -> np.ndarray:
    """Row number of each operation of each job.

    Args:
        schedule: The schedule.
        life: Operations of a job, in order, the last of them DROP; a job in flight has the
            first few.
        rule: Short name of the rule.
        lost: (J,) bool; these jobs have the first few and then DROP. Nobody by default.

    Returns:
        (J, len(life)) int64, -1 where a job in flight or a lost one has no such row.

    Raises:
        ScheduleError: If a job has other operations or the same in another order.
    """
    rows, n_jobs = schedule.rows, len(schedule.jobs)
    of_a_job = np.flatnonzero(rows.job >= 0)
    order = of_a_job[np.argsort(rows.job[of_a_job], kind="stable")]
    job = rows.job[order]
    count = np.bincount(job, minlength=n_jobs)
    place = np.arange(len(order)) - (np.cumsum(count) - count)[job]
    if lost is not None:  # their last row is where the last row of a life is
        ends = lost[job] & (place == count[job] - 1)
        place = np.where(ends, len(life) - 1, place)
        count = np.where(lost, len(life), count)
    expected = np.array((*life, -1))[np.minimum(place, len(life))]
    names = ", ".join(op.name for op in life)
    require_everywhere(rows.op[order] == expected, order, rule, f"a job's life is {names}")
    finished = ~np.isnan(schedule.jobs.share)
    whole = bool(((count == len(life)) == finished).all())
    refuse_unless(whole, rule, "a job has a share if and only if its life is over")
    found = np.full((n_jobs, len(life)), -1)
    found[job, place] = order
    return found


def require_steps_after_adds(schedule: Schedule, rule: str) -> None:
    """Every ADD is followed at once by the STEP of the same replica, and nothing else steps."""
    rows = schedule.rows
    add = np.flatnonzero(rows.op == Op.ADD)
    step = np.append(rows.op, -1)[add + 1] == Op.STEP
    same = np.append(rows.replica, -1)[add + 1] == rows.replica[add]
    require_everywhere(step & same, add, rule, "STEP of the same replica follows ADD at once")
    refuse_unless(int((rows.op == Op.STEP).sum()) == len(add), rule, "#STEP = #ADD")


def previous_of_worker(schedule: Schedule) -> np.ndarray:
    """(J,) int64: the job that the same worker had before, -1 for its first."""
    worker = schedule.jobs.worker
    order = np.argsort(worker, kind="stable")
    previous = np.full(len(worker), -1)
    same = worker[order[1:]] == worker[order[:-1]]
    previous[order[1:][same]] = order[:-1][same]
    return previous


def require_server_exchanges(schedule: Schedule, rule: str) -> np.ndarray:
    """Each update is ADD, STEP and DROP in one breath, with weight and share 1, at replica 0.

    Returns:
        (J, 5) row numbers of READ, GRADIENT, ENCODE, ADD, DROP of each job.
    """
    rows = schedule.rows
    require_only(schedule, (*APPLIED_ALONE, Op.STEP), rule)
    found = rows_of_jobs(schedule, APPLIED_ALONE, rule)
    add = np.flatnonzero(rows.op == Op.ADD)
    following = np.append(rows.op, (-1, -1))
    require_everywhere(following[add + 1] == Op.STEP, add, rule, "STEP follows ADD at once")
    same = found[rows.job[add], 4] == add + 2
    require_everywhere(same, add, rule, "DROP of the same job follows STEP at once")
    refuse_unless(int((rows.op == Op.STEP).sum()) == len(add), rule, "#STEP = #ADD")
    require_everywhere(rows.weight[add] == 1, add, rule, "the weight of an update is 1")
    require_everywhere(rows.time[add] == rows.time[add + 2], add, rule, "it takes no time")
    share = schedule.jobs.share
    refuse_unless(bool((share[~np.isnan(share)] == 1).all()), rule, "a share is 1")
    read = found[:, 0]
    require_everywhere(rows.op[read + 1] == Op.GRADIENT, read, rule, "GRADIENT follows READ")
    require_everywhere(np.diff(read, prepend=-1) > 0, read, rule, "jobs are numbered as they read")
    return found
