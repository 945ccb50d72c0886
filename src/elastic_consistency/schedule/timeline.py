"""A schedule as a Perfetto trace: one lane for each worker and each host of replicas.

Open the file at https://ui.perfetto.dev. Spans: read (from READ to begin: the pull), compute
(begin to the last ENCODE), message in flight (last PUT or ENCODE to first use). Instants: read,
encode, add, step, mix, drop, crash. Arrows lead from a READ to the computation, and from the
end of the computation to each use of its update.
"""

from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency.schedule.ops import ABSENT, SERVER, Op
from elastic_consistency.schedule.staleness import first_reads
from elastic_consistency.schedule.table import Schedule

_NANOSECONDS = 1e9
_SEQUENCE = 1
_HOST_TRACK, _WORKER_TRACK, _WIRE_TRACK = 1, 10_000_000, 20_000_000
_INSTANTS = (Op.READ, Op.ENCODE, Op.ADD, Op.STEP, Op.PUT, Op.MIX, Op.CRASH)


def save_timeline(schedule: Schedule, path: str | Path) -> int:
    """Write the trace, packet by packet.

    Args:
        schedule: What to draw.
        path: Where to; the usual suffix is .pftrace.

    Returns:
        Number of packets written.
    """
    with Path(path).open("wb") as file:
        timeline = _Timeline(file)
        timeline.name_tracks(schedule)
        timeline.draw_jobs(schedule)
        timeline.draw_messages(schedule)
        timeline.draw_rows(schedule)
    return timeline.packets


@final
class _Timeline:
    def __init__(self, file: Any) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2

        self._proto = perfetto_trace_pb2
        self._file = file
        self.packets = 0

    def _write(self, packet: Any) -> None:
        packet.trusted_packet_sequence_id = _SEQUENCE
        trace = self._proto.Trace()
        trace.packet.append(packet)
        self._file.write(trace.SerializeToString())
        self.packets += 1

    def _track(self, uuid: int, name: str, order: int, parent: int = 0) -> None:
        packet = self._proto.TracePacket()
        track = packet.track_descriptor
        track.uuid, track.name, track.sibling_order_rank = uuid, name, order
        if parent:
            track.parent_uuid = parent
        else:
            track.child_ordering = track.EXPLICIT
        self._write(packet)

    def _event(self, time: float, kind: str, track: int, name: str = "", **details: Any) -> None:
        packet = self._proto.TracePacket()
        packet.timestamp = round(time * _NANOSECONDS)
        event = packet.track_event
        event.type = getattr(event, f"TYPE_{kind}")
        event.track_uuid = track
        if name:
            event.name = name
        event.flow_ids.extend(details.pop("flows", ()))
        event.terminating_flow_ids.extend(details.pop("ends", ()))
        for key, value in details.items():
            annotation = event.debug_annotations.add()
            annotation.name = key
            annotation.string_value = str(value)
        self._write(packet)

    def _span(self, first: float, last: float, track: int, name: str, **details: Any) -> None:
        self._event(first, "SLICE_BEGIN", track, name, **details)
        self._event(max(first, last), "SLICE_END", track)

    def name_tracks(self, schedule: Schedule) -> None:
        """Lanes: hosts of replicas first, then workers, each with a lane for its wire."""
        hosts = schedule.metadata.hosts
        for host in sorted(set(hosts)):
            held = [r for r, owner in enumerate(hosts) if owner == host]
            who = "server" if host == SERVER else f"host of worker {host}"
            text = f"{who}, replica {held[0]}" if len(held) == 1 else f"{who}, {len(held)} replicas"
            self._track(_host_track(host), text, host + 1)
        for worker in range(schedule.metadata.n_workers):
            order = 1_000_000 + 2 * worker
            self._track(_WORKER_TRACK + worker, f"worker {worker}", order)
            self._track(_WIRE_TRACK + worker, f"worker {worker}, messages", order + 1)

    def draw_jobs(self, schedule: Schedule) -> None:
        """Pull and computation of every job, with the arrow from its READ."""
        table, jobs = schedule.rows, schedule.jobs
        reads = first_reads(schedule)
        ends = _last_time(schedule, Op.ENCODE)
        for job in range(len(jobs)):
            begin, end, read = (
                float(jobs.begin[job]),
                float(ends[job]),
                float(table.time[reads[job]]),
            )
            lane = _WORKER_TRACK + int(jobs.worker[job])
            if begin > read:
                self._span(read, begin, lane, f"read {job}", job=job)
            if np.isfinite(begin) and np.isfinite(end):
                flows = {"ends": (_flow(0, job),), "flows": (_flow(1, job),)}
                self._span(begin, end, lane, f"compute {job}", job=job, **flows)

    def draw_messages(self, schedule: Schedule) -> None:
        """An update is in flight from the end of its computation, or its PUT, to its use."""
        table = schedule.rows
        ends = _last_time(schedule, Op.ENCODE)
        for row in np.flatnonzero((table.op == Op.ADD) & (table.job != ABSENT)):
            job, time = int(table.job[row]), table.time[row]
            if time > ends[job]:
                lane = _WIRE_TRACK + int(schedule.jobs.worker[job])
                self._span(ends[job], time, lane, f"update {job} in flight", job=job)
        puts, uses = _message_life(schedule)
        rows = np.flatnonzero(table.op == Op.PUT)
        sender = np.zeros(len(schedule.messages), np.int64)
        sender[table.message[rows]] = table.worker[rows]
        for message in np.flatnonzero(np.isfinite(puts) & np.isfinite(uses) & (uses > puts)):
            lane = _WIRE_TRACK + max(0, int(sender[message]))
            name = f"message {message} in flight"
            self._span(puts[message], uses[message], lane, name, message=int(message))

    def draw_rows(self, schedule: Schedule) -> None:
        """Every row as an instant on the lane of whoever acts."""
        table = schedule.rows
        for row in np.flatnonzero(np.isin(table.op, _INSTANTS)).tolist():
            op, job = Op(int(table.op[row])), int(table.job[row])
            lane = _lane(schedule, op, row)
            flows: dict[str, Any] = {}
            if op is Op.READ:
                flows = {"flows": (_flow(0, job),)}
            elif op is Op.ADD and job >= 0:
                flows = {"ends": (_flow(1, job),)}
            elif op is Op.PUT:
                flows = {"flows": (_flow(2, int(table.message[row])),)}
                if job >= 0:
                    flows["ends"] = (_flow(1, job),)
            elif op in (Op.ADD, Op.MIX):
                flows = {"ends": (_flow(2, int(table.message[row])),)}
            self._event(
                float(table.time[row]), "INSTANT", lane, _label(op, schedule, row), row=row, **flows
            )


def _host_track(host: int) -> int:
    return _HOST_TRACK + 1 + host


def _lane(schedule: Schedule, op: Op, row: int) -> int:
    table = schedule.rows
    if op in (Op.ENCODE, Op.CRASH) or (op is Op.PUT and table.job[row] >= 0):
        return _WORKER_TRACK + int(table.worker[row])
    return _host_track(schedule.metadata.hosts[table.replica[row]])


def _label(op: Op, schedule: Schedule, row: int) -> str:
    table = schedule.rows
    text = op.name.lower()
    if table.job[row] >= 0:
        text += f" {table.job[row]}"
    elif table.message[row] >= 0:
        text += f" message {table.message[row]}"
    return text if table.block[row] < 0 else f"{text} block {table.block[row]}"


def _flow(kind: int, number: int) -> int:
    return 4 * (number + 1) + kind


def _last_time(schedule: Schedule, op: Op) -> np.ndarray:
    rows = np.flatnonzero(schedule.rows.op == op)
    time = np.full(len(schedule.jobs), np.nan)
    time[schedule.rows.job[rows]] = schedule.rows.time[rows]
    return time


def _message_life(schedule: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """Time of the last PUT and of the first use of every message; NaN for none."""
    table = schedule.rows
    put, use = (np.full(len(schedule.messages), np.nan) for _ in range(2))
    rows = np.flatnonzero(table.op == Op.PUT)
    put[table.message[rows]] = table.time[rows]
    used = np.isin(table.op, (Op.ADD, Op.MIX)) & (table.message != ABSENT)
    rows = np.flatnonzero(used)[::-1]
    use[table.message[rows]] = table.time[rows]
    return put, use
