"""Remarks about a whole run: partitions, clocks that are not true, suspensions."""

from dataclasses import replace

import numpy as np

from elastic_consistency.schedule import SERVER, Annotation, Schedule
from elastic_consistency.simulator.clocks import describe_clock
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.fault_replay import describe_partition
from elastic_consistency.simulator.fault_script import Partition
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
    """One remark for each suspension that begins before the last row, with its end."""
    time = schedule.rows.time
    if not len(time):
        return []
    found = [
        (begin, worker, end)
        for worker, phases in suspensions.items()
        for begin, end in phases.second_kind(float(time[-1]))
    ]
    return [
        Annotation(int(np.searchsorted(time, begin)), begin, "suspended", worker, f"{end!r}")
        for begin, worker, end in sorted(found)
    ]
