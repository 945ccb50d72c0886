"""PyTorch profiler (Kineto) traces: the steps of one rank, and what they waited for."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from elastic_consistency.studies.traces.event_stream import events
from elastic_consistency.studies.traces.intervals import covered, union
from elastic_consistency.studies.traces.kineto_ranks import worker_names
from elastic_consistency.studies.traces.records import (
    MOST_SECONDS,
    StepTimes,
    Tally,
    TraceError,
    step_times,
)

_STEP = "ProfilerStep#"
_MICROSECONDS = 1e-6
_MOST = 10 * MOST_SECONDS / _MICROSECONDS  # clocks may count from 1970
_ROUNDING = 1e-9  # of a step: less than this of its own is nothing
_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
_HOST_COLLECTIVES = ("gloo:", "mpi:")  # on a thread of their own
_NEITHER = "neither step nor kernel"
_NO_STEPS = (
    "file without steps (torch.profiler writes them with a schedule: profile(schedule=...), and "
    "prof.step() after each step; with repeat=1, or a step that begins a cycle drops the last one)"
)


@final
@dataclass(slots=True)
class _Spans:
    """What one file says; begins and ends in microseconds, in turn.

    Attributes:
        steps: Begin and length of each step, by its name and process.
        device: Kernels and copies of the device that compute.
        host: Operations of the CPU.
        talking: Communication, of device and host.
        talks_on_host: Whether some of it is of the host.
    """

    steps: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    device: "array[float]" = field(default_factory=lambda: array("d"))
    host: "array[float]" = field(default_factory=lambda: array("d"))
    talking: "array[float]" = field(default_factory=lambda: array("d"))
    talks_on_host: bool = False


def read_kineto(paths: list[Path]) -> StepTimes:
    """Step times of every rank, without the time that only communication went on.

    A step is an annotation `ProfilerStep#k`. What a step waits for others is not its own time:
    the seconds in which NCCL kernels ran and no other kernel did are taken off and kept apart;
    for gloo, the seconds in which a collective ran and no operation of the CPU did.

    Args:
        paths: One file a rank, or several that state the same rank and hold other steps of it.

    Raises:
        TraceError: If a file is damaged, none has a step, or files of a rank hold the same step.
    """
    tally = Tally()
    own: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path, worker in zip(paths, worker_names(paths), strict=True):
        spans = _read(path, tally)
        for name, _ in spans.steps:
            if (worker, name) in seen:
                raise TraceError(
                    f"{path}: must hold other steps than {seen[worker, name]}, which states rank "
                    f"{worker}, too; got {name} in both."
                )
            seen[worker, name] = path
        for seconds, wait in _without_waits(spans, tally):
            own.setdefault(worker, []).append(seconds)
            waits.setdefault(worker, []).append(wait)
        if not spans.steps:
            tally.skip(_NO_STEPS)
    return step_times(paths[0], "kineto", own, tally, waits=waits)


def _read(path: Path, tally: Tally) -> _Spans:
    spans = _Spans()
    for event in events(path, "traceEvents"):
        tally.read += 1
        span = _span(event, tally)
        if span is not None:
            _file_under(spans, event, span, tally)
    processes = {process for _, process in spans.steps}
    if len(processes) > 1:
        several = ", ".join(sorted(processes))
        raise TraceError(f"{path}: must hold the steps of one process, got those of {several}.")
    count = len(spans.host) // 2
    if spans.talks_on_host:
        tally.kept += count
    elif count:
        tally.skipped[_NEITHER] += count
    return spans


def _file_under(
    spans: _Spans, event: dict[str, Any], span: tuple[float, float], tally: Tally
) -> None:
    name, category = str(event.get("name", "")), str(event.get("cat"))
    ends = (span[0], span[0] + span[1])
    if category == "user_annotation" and name.startswith(_STEP):
        step = (name, str(event.get("pid")))
        if span[1] == 0:
            return tally.skip("step of length 0")
        if step in spans.steps:
            return tally.skip("step that the file holds already")
        spans.steps[step] = span
    elif category in _DEVICE:
        (spans.talking if "nccl" in name.lower() else spans.device).extend(ends)
    elif name.startswith(_HOST_COLLECTIVES):
        spans.talking.extend(ends)
        spans.talks_on_host = True
    elif category == "cpu_op" and not name.startswith("c10d::"):
        spans.host.extend(ends)
        return None  # counted when it is known whether they matter
    else:
        return tally.skip(_NEITHER)
    tally.kept += 1
    return None


def _span(event: dict[str, Any], tally: Tally) -> tuple[float, float] | None:
    start, length = event.get("ts"), event.get("dur")
    if event.get("ph") != "X":
        return tally.skip("without a duration")
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (start, length))
    # Comparisons are false for NaN, and true or false for whole numbers of any length.
    if not numbers or not (-_MOST < start < _MOST and 0 <= length < _MOST):  # type: ignore[operator]
        return tally.skip("with a time or a duration that is no number >= 0")
    return float(start), float(length)  # type: ignore[arg-type]


def _without_waits(spans: _Spans, tally: Tally) -> Iterator[tuple[float, float]]:
    """Own seconds and waited seconds of each step."""
    working = spans.device + spans.host if spans.talks_on_host else spans.device
    computing = either = union(working)
    if spans.talking:
        either = union(working + spans.talking)
    for begin, length in sorted(spans.steps.values()):
        end = begin + length
        wait = covered(either, begin, end) - covered(computing, begin, end)
        if length - wait > _ROUNDING * length:
            yield (length - wait) * _MICROSECONDS, wait * _MICROSECONDS
        else:
            tally.kept -= 1
            tally.skip("step that only waited")
