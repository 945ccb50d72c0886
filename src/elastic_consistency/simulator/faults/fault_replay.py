"""The faults that happened in a run, as a script that repeats them."""

from math import inf, nextafter

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.faults.fault_script import (
    Crash,
    Fault,
    FaultScript,
    LateStart,
    Partition,
)


def describe_partition(partition: Partition) -> str:
    """A partition as the detail of an annotation, without loss of digits."""
    workers = " ".join(str(worker) for worker in partition.workers)
    return f"{partition.from_s!r} {partition.until_s!r} {workers}"


def faults_of(schedule: Schedule) -> FaultScript:
    """The script with exact times of all that went wrong in `schedule`.

    What was random is exact in it: the same protocol on the same cluster with this script and
    the same seed writes the same schedule, event for event, and another protocol or another
    seed meets the same faults at the same times. Lost acknowledgements, which change nothing,
    are left out; losses on links belong to the links and repeat with the seed.

    Args:
        schedule: A schedule that the simulator has made, as it is or loaded from a file.
    """
    faults: list[Fault] = []
    for remark in schedule.metadata.annotations:
        words = remark.detail.split()
        if remark.kind == "late start":
            faults.append(LateStart(remark.worker, float(words[0])))
        elif remark.kind == "partition":
            workers = tuple(int(word) for word in words[2:])
            faults.append(Partition(workers, float(words[0]), float(words[1])))
    return FaultScript((*faults, *_crashes(schedule)))


def _crashes(schedule: Schedule) -> list[Crash]:
    rows, remarks = schedule.rows, schedule.metadata.annotations
    found = []
    for row in np.flatnonzero(rows.op == Op.CRASH):
        worker, time = int(rows.worker[row]), float(rows.time[row])
        back = [
            r.time for r in remarks if (r.kind, r.worker) == ("restart", worker) and r.row > row
        ]
        found.append(Crash(worker, time, _difference(time, min(back, default=inf))))
    return found


def _difference(earlier: float, later: float) -> float:
    """The d for which earlier + d is exactly `later` in floating point."""
    d = later - earlier
    if earlier + d == later:
        return d
    return nextafter(d, inf if earlier + d < later else -inf)
