"""A schedule as a Perfetto trace: who computes, who waits, what is under way and what it meets.

Open the file at https://ui.perfetto.dev. The server's models come first, then each worker: what
it does, whether it is away, suspended or cut off, its messages, its model. Arrows lead from a
READ to the computation, from there to each use of its update, and from each PUT to each use of
the message.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency._whole_files import whole_file
from elastic_consistency.schedule.idle_spans import (
    away_spans,
    cut_off_spans,
    suspended_spans,
    waiting_spans,
)
from elastic_consistency.schedule.ops import ABSENT, SERVER, Op
from elastic_consistency.schedule.staleness import first_reads
from elastic_consistency.schedule.table import Schedule
from elastic_consistency.schedule.trace_file import Mark, TraceFile

_LANES = ("", "away", "suspended", "cut off", "messages", "model")
_TICKS = (Op.READ, Op.ENCODE, Op.ADD, Op.STEP, Op.PUT, Op.MIX, Op.CRASH)
Lane = tuple[int, str]  # a worker, or -1 for the server, and one of _LANES


def save_timeline(schedule: Schedule, path: str | Path) -> int:
    """Write the trace, lane by lane.

    Args:
        schedule: What to draw.
        path: Where to; the usual suffix is .pftrace.

    Returns:
        Number of packets written.
    """
    drawing = _Drawing(schedule)
    drawing.draw_idle_spans()
    drawing.draw_jobs()
    drawing.draw_updates()
    drawing.draw_messages()
    drawing.draw_rows()
    with whole_file(Path(path)) as beside, beside.open("wb") as file:
        trace = TraceFile(file)
        for lane in drawing.lanes():
            order = len(_LANES) * (lane[0] + 1) + _LANES.index(lane[1])
            trace.lane(drawing.name(lane), order, drawing.marks[lane])
    return trace.packets


@final
class _Drawing:
    """Marks by lane; an arrow has the number of the row that it leads to, or begins at."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule, self._rows = schedule, schedule.rows
        self.marks: dict[Lane, list[Mark]] = defaultdict(list)
        self._ends = _last_times(schedule, Op.ENCODE)
        self._drops = _last_times(schedule, Op.DROP)
        self._first_reads = first_reads(schedule)
        self._uses = _rows_by(schedule, "job", (Op.ADD, Op.PUT))
        self._puts = _rows_by(schedule, "message", (Op.PUT,))
        self._takes = _rows_by(schedule, "message", (Op.ADD, Op.MIX))

    def lanes(self) -> list[Lane]:
        """All lanes with something on them, and every worker's own."""
        workers: list[Lane] = [(w, "") for w in range(self._schedule.metadata.n_workers)]
        return list(dict.fromkeys([*workers, *self.marks]))

    def name(self, lane: Lane) -> str:
        """What the viewer writes in front of a lane."""
        who = "server" if lane[0] == SERVER else f"worker {lane[0]}"
        if lane[1] == "model":
            held = self._schedule.metadata.hosts.count(lane[0])
            return f"{who}, model" if held == 1 else f"{who}, {held} models"
        return f"{who}, {lane[1]}" if lane[1] else who

    def draw_idle_spans(self) -> None:
        """Waits lie on the worker's own lane, which they fill; the others may overlap with work."""
        for kind, spans in (
            ("", waiting_spans(self._schedule)),
            ("away", away_spans(self._schedule)),
            ("suspended", suspended_spans(self._schedule)),
            ("cut off", cut_off_spans(self._schedule)),
        ):
            for span in spans:
                self.marks[span.worker, kind].append(Mark(span.begin, span.end, span.why))
        for remark in self._schedule.metadata.annotations:
            if remark.kind in ("retransmission", "duplicate"):
                mark = Mark(remark.time, None, remark.kind, details={"told": remark.detail})
                self.marks[remark.worker, "messages"].append(mark)

    def draw_jobs(self) -> None:
        """Pull and computation of every job, with the arrows from its READ and to its uses."""
        jobs, reads = self._schedule.jobs, self._first_reads
        for job in range(len(jobs)):
            if reads[job] >= len(self._rows):
                continue
            begin, end = float(jobs.begin[job]), float(self._ends[job])
            read, lane = int(reads[job]), (int(jobs.worker[job]), "")
            pulled = float(self._rows.time[read])
            if begin > pulled:
                self.marks[lane].append(Mark(pulled, begin, f"pull {job}", details={"job": job}))
            if self._is_drawn(job):
                leaves = [self._to(row) for row in self._uses.get(job, ())]
                name = f"compute {job}" if np.isfinite(end) else f"compute {job}, lost"
                end = end if np.isfinite(end) else float(self._drops[job])
                details = {"job": job}
                self.marks[lane].append(Mark(begin, end, name, leaves, [self._to(read)], details))

    def _is_drawn(self, job: int) -> bool:
        """Whether a computation has begun, and has ended or been given up."""
        begin, drop = self._schedule.jobs.begin[job], self._drops[job]
        return bool(np.isfinite(begin) and (np.isfinite(self._ends[job]) or drop >= begin))

    def draw_updates(self) -> None:
        """An update that travels by itself is under way from its ENCODE to its ADD."""
        for job, rows in self._uses.items():
            for row in rows:
                time, end = float(self._rows.time[row]), float(self._ends[job])
                if self._rows.op[row] == Op.ADD and time > end:
                    lane = int(self._schedule.jobs.worker[job]), "messages"
                    name = f"update {job} to {self._host(row)}"
                    self.marks[lane].append(Mark(end, time, name, details={"job": job}))

    def draw_messages(self) -> None:
        """A message is under way from its last PUT to each use, on the last sender's lane."""
        for message, puts in self._puts.items():
            takes = self._takes.get(message, [])
            sent, lane = float(self._rows.time[puts[-1]]), int(self._rows.worker[puts[-1]])
            arrivals = defaultdict(list)
            for row in takes:
                arrivals[float(self._rows.time[row])].append(row)
            for time, rows in arrivals.items():
                if time > sent:
                    whom = self._host(rows[0]) if len(rows) == 1 else f"{len(rows)} replicas"
                    name = f"{self._what(puts)} to {whom}"
                    details = {"message": message}
                    self.marks[lane, "messages"].append(Mark(sent, time, name, details=details))

    def _what(self, puts: list[int]) -> str:
        kind = "update" if self._rows.job[puts[0]] != ABSENT else "model"
        return kind if len(puts) == 1 else f"sum of {len(puts)} {kind}s"

    def _host(self, row: int) -> str:
        host = self._schedule.metadata.hosts[self._rows.replica[row]]
        return "server" if host == SERVER else f"worker {host}"

    def draw_rows(self) -> None:
        """Every row as a tick on the lane of the model, or of the worker, that it is about."""
        table = self._rows
        for row in np.flatnonzero(np.isin(table.op, _TICKS)).tolist():
            op, job = Op(int(table.op[row])), int(table.job[row])
            own = op in (Op.ENCODE, Op.CRASH) or (op is Op.PUT and job != ABSENT)
            if own:
                lane = int(table.worker[row]), ""
            else:
                lane = self._schedule.metadata.hosts[table.replica[row]], "model"
            leaves, arrives = self._arrows(row, op, job)
            name = _label(op, self._schedule, row)
            mark = Mark(float(table.time[row]), None, name, leaves, arrives, {"row": row})
            self.marks[lane].append(mark)

    def _arrows(self, row: int, op: Op, job: int) -> tuple[list[int], list[int]]:
        """Numbers of the arrows that begin at a row and that end there."""
        if op is Op.READ:
            first = self._first_reads[job] == row and self._is_drawn(job)
            return [self._to(row)] if first else [], []
        if op is Op.PUT:
            puts = self._puts[int(self._rows.message[row])]
            arrives = [self._to(row)] if job != ABSENT else []
            if row != puts[-1]:
                return [self._on(row)], arrives
            # All that was put earlier leads here, and from here to everybody who takes it.
            takes = self._takes.get(int(self._rows.message[row]), [])
            return [self._to(k) for k in takes], arrives + [self._on(k) for k in puts[:-1]]
        known = op in (Op.ADD, Op.MIX)
        return [], [self._to(row)] if known else []

    def _to(self, row: int) -> int:
        """Number of the arrow to a use, or from a READ."""
        return row + 1

    def _on(self, row: int) -> int:
        """Number of the arrow from a PUT to the last PUT of its message."""
        return len(self._rows) + row + 1


def _label(op: Op, schedule: Schedule, row: int) -> str:
    table = schedule.rows
    text = op.name.lower()
    if table.job[row] >= 0:
        text += f" {table.job[row]}"
    elif table.message[row] >= 0:
        text += f" message {table.message[row]}"
    return text if table.block[row] < 0 else f"{text} block {table.block[row]}"


def _last_times(schedule: Schedule, op: Op) -> np.ndarray:
    rows = np.flatnonzero((schedule.rows.op == op) & (schedule.rows.job != ABSENT))
    time = np.full(len(schedule.jobs), np.nan)
    time[schedule.rows.job[rows]] = schedule.rows.time[rows]
    return time


def _rows_by(schedule: Schedule, column: str, ops: tuple[Op, ...]) -> dict[int, list[int]]:
    """Row numbers of some operations by the job or the message that they name."""
    named: Any = getattr(schedule.rows, column)
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.isin(schedule.rows.op, ops) & (named != ABSENT)).tolist():
        found.setdefault(int(named[row]), []).append(row)
    return found
