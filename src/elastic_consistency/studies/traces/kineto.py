"""PyTorch profiler (Kineto) traces: the steps of one rank, and what they waited for."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from elastic_consistency.studies.traces.event_stream import events, head_of
from elastic_consistency.studies.traces.records import MOST_SECONDS, StepTimes, Tally, step_times

_STEP = "ProfilerStep#"
_MICROSECONDS = 1e-6
_MOST = 10 * MOST_SECONDS / _MICROSECONDS  # clocks may count from 1970
_BUSY = {"kernel", "gpu_memcpy", "gpu_memset"}
_NO_STEPS = (
    "file without steps (torch.profiler writes them with a schedule: profile(schedule=...), and "
    "prof.step() after each step)"
)
Intervals = list[tuple[float, float]]


def read_kineto(paths: list[Path]) -> StepTimes:
    """Step times of every rank, without the time that only communication kernels ran.

    A step is an annotation `ProfilerStep#k`. What a step waits for others is not its own time:
    the seconds in which NCCL kernels ran and no other kernel did are taken off and kept apart.

    Args:
        paths: One file a rank.

    Raises:
        TraceError: If a file is damaged, or none has a step.
    """
    tally = Tally()
    own: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    for path in paths:
        name = _rank(path, taken=own)
        own[name], waits[name] = _steps(path, tally)
        if not own[name]:
            tally.skip(_NO_STEPS)
    return step_times(paths[0], "kineto", own, tally, waits=waits)


def _steps(path: Path, tally: Tally) -> tuple[list[float], list[float]]:
    steps: Intervals = []
    computing: Intervals = []
    talking: Intervals = []
    for event in events(path, "traceEvents"):
        tally.read += 1
        span = _span(event)
        if span is None:
            tally.skip("without a duration")
            continue
        name, category = str(event.get("name", "")), event.get("cat")
        if name.startswith(_STEP) and category == "user_annotation":
            steps.append(span)
        elif category in _BUSY:
            (talking if "nccl" in name.lower() else computing).append(span)
        else:
            tally.skip("neither step nor kernel")
            continue
        tally.kept += 1
    return _without_waits(steps, computing, talking)


def _span(event: dict[str, Any]) -> tuple[float, float] | None:
    start, length = event.get("ts"), event.get("dur")
    if event.get("ph") != "X":
        return None
    if not isinstance(start, int | float) or not isinstance(length, int | float):
        return None
    # Comparisons are false for NaN, and true or false for whole numbers of any length.
    if not (-_MOST < start < _MOST and 0 <= length < _MOST):
        return None
    return float(start), float(start) + float(length)


def _without_waits(
    steps: Intervals, computing: Intervals, talking: Intervals
) -> tuple[list[float], list[float]]:
    own, waits = [], []
    for begin, end in sorted(steps):
        busy = _covered(computing, begin, end)
        either = _covered(computing + talking, begin, end)
        wait = (either - busy) * _MICROSECONDS
        waits.append(wait)
        own.append((end - begin) * _MICROSECONDS - wait)
    return own, waits


def _covered(intervals: Intervals, begin: float, end: float) -> float:
    """Length of the union of `intervals` inside [begin, end]."""
    if not intervals:
        return 0.0
    spans = np.clip(np.array(sorted(intervals)), begin, end)
    reach = np.maximum.accumulate(np.concatenate([[begin], spans[:-1, 1]]))
    return float(np.maximum(0.0, spans[:, 1] - np.maximum(spans[:, 0], reach)).sum())


def _rank(path: Path, *, taken: dict[str, list[float]]) -> str:
    """Rank that the file states near its beginning, else its position."""
    head = head_of(path, 1 << 16)
    place = head.find('"distributedInfo"')
    if place >= 0:
        start = head.find("{", place)
        try:
            info, _ = json.JSONDecoder().raw_decode(head, start)
        except json.JSONDecodeError:
            info = {}
        name = str(info.get("rank", ""))
        if name and name not in taken:
            return name
    return str(len(taken))
