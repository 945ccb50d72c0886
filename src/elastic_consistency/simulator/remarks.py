"""Remarks about a whole run: partitions, clocks that are not true, suspensions."""

from dataclasses import replace

import numpy as np

from elastic_consistency.schedule import SERVER, Annotation, Op, Schedule
from elastic_consistency.simulator.clocks import describe_clock
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.faults.fault_replay import describe_partition
from elastic_consistency.simulator.faults.fault_script import Partition
from elastic_consistency.simulator.phase_log import PhaseLog


def with_remarks(
    schedule: Schedule, cluster: Cluster, suspensions: dict[int, PhaseLog]
) -> Schedule:
    """The schedule, which also tells what no row of it says; the rows keep the true time.

    Args:
        schedule: Of a run.
        cluster: Its machines.
        suspensions: Phases of the workers that are suspended now and then.
    """
    remarks = (*_at_first(cluster), *schedule.metadata.annotations)
    remarks += tuple(_suspended(schedule, suspensions))
    if len(remarks) == len(schedule.metadata.annotations):
        return schedule
    in_order = tuple(sorted(remarks, key=lambda remark: remark.row))
    return replace(schedule, metadata=replace(schedule.metadata, annotations=in_order))


def _at_first(cluster: Cluster) -> list[Annotation]:
    clocks = [
        Annotation(0, 0.0, "clock", worker, describe_clock(machine.clock))
        for worker, machine in enumerate(cluster.workers)
        if not machine.clock.is_true
    ]
    partitions = [
        Annotation(0, 0.0, "partition", SERVER, describe_partition(fault))
        for fault in cluster.faults.faults
        if isinstance(fault, Partition)
    ]
    return clocks + partitions


def _suspended(schedule: Schedule, suspensions: dict[int, PhaseLog]) -> list[Annotation]:
    """One remark for each suspension that interrupted a computation, with its end.

    Those that pass while a worker waits are as many as there are seconds, and cost nobody any.
    """
    time = schedule.rows.time
    if not len(time) or not suspensions:
        return []
    finished = _ends(schedule)
    found = []
    for worker, phases in suspensions.items():
        own = (schedule.jobs.worker == worker) & np.isfinite(schedule.jobs.begin)
        order = np.argsort(schedule.jobs.begin[own], kind="stable")
        begun, ended = schedule.jobs.begin[own][order], finished[own][order]
        for begin, end in phases.second_kind(float(time[-1])):
            last = int(np.searchsorted(begun, end)) - 1  # the last one that began before its end
            if last >= 0 and ended[last] > begin:
                found.append((begin, worker, end))
    return [
        Annotation(int(np.searchsorted(time, begin)), begin, "suspended", worker, f"{end!r}")
        for begin, worker, end in sorted(found)
    ]


def _ends(schedule: Schedule) -> np.ndarray:
    """(J,) when each computation ended, s; the end of the run for those that were lost."""
    rows = schedule.rows
    ends = np.full(len(schedule.jobs), float(rows.time[-1]))
    encoded = np.flatnonzero(rows.op == Op.ENCODE)
    ends[rows.job[encoded]] = rows.time[encoded]  # the last block of a job wins
    return ends
