"""Profiles of PipeDream: forward and backward time of each layer of a model on one machine."""

import re
from pathlib import Path

from elastic_consistency.studies.traces.event_stream import open_text
from elastic_consistency.studies.traces.records import MOST_SECONDS, StepTimes, Tally, step_times

_MILLISECONDS = 1e-3
_TIMES = re.compile(r"\b(?:forward|backward)_compute_time=([^,\s]+)")
_LAYER = re.compile(r"^(\S+) -- (\w+)")


def holds_layers(head: str) -> bool:
    """Whether a text that begins like this is such a profile."""
    return "forward_compute_time=" in head and " -- " in head


def read_pipedream(path: Path) -> StepTimes:
    """One step of one worker: the sum over layers of forward and backward, which run in turn.

    Lines that link two layers say nothing about time, and the layer `Input` loads data; both are
    skipped and counted.

    Raises:
        TraceError: If no layer has a time.
    """
    tally, total = Tally(), 0.0
    with open_text(path) as file:
        for line in file:
            tally.read += 1
            seconds = _seconds(line, tally)
            if seconds is not None:
                total += seconds
                tally.kept += 1
    return step_times(path, "pipedream", {"0": [total] if total > 0 else []}, tally)


def _seconds(line: str, tally: Tally) -> float | None:
    layer, times = _LAYER.match(line), _TIMES.findall(line)
    if layer is None or not times:
        return tally.skip("without a time, such as links between layers")
    if layer.group(2) == "Input":
        return tally.skip("of the loading of data")
    try:
        seconds = [float(time) * _MILLISECONDS for time in times]
    except ValueError:
        return tally.skip("with a time that is no number")
    if len(seconds) != 2 or not all(0 <= value <= MOST_SECONDS for value in seconds):
        return tally.skip("without two times >= 0, forward and backward")
    return sum(seconds)
