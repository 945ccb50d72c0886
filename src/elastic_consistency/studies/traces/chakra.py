"""Chakra execution traces: one step of one rank a file."""

import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from elastic_consistency.studies.traces.chakra_messages import json_nodes, message_nodes
from elastic_consistency.studies.traces.event_stream import (
    DAMAGED,
    HEAD,
    damaged,
    ending,
    events,
    events_in,
    head_of,
)
from elastic_consistency.studies.traces.records import (
    MOST_SECONDS,
    StepTimes,
    Tally,
    TraceError,
    step_times,
)

_COLLECTIVE = {"5", "6", "7"}  # send, receive and collective communication, by node type
_MICROSECONDS = 1e-6
GRAPH = "workload_graph"
Nodes = Iterable[dict[str, Any]]


def read_chakra(paths: list[Path]) -> StepTimes:
    """Seconds of the device operations of each rank; communication is kept apart.

    Operations of the device are added up, as on one stream; where there are none, those of the
    CPU without children would count twice, so such a file is refused.

    Args:
        paths: One file a rank: JSON with a `workload_graph`, protocol buffers (.et) or the JSON
            made of those; or a tar archive of the first kind.

    Raises:
        TraceError: If one is damaged or none holds an operation of the device.
    """
    tally = Tally()
    own: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    for name, nodes in (graph for path in paths for graph in _graphs(path)):
        if name in own:
            raise TraceError(f"{paths[0]}: must hold one file a rank, got two called {name!r}.")
        computing, talking = _times(nodes, tally)
        if computing > 0:
            own[name], waits[name] = [computing], [talking]
    return step_times(paths[0], "chakra", own, tally, waits=waits)


def require_archive(path: Path) -> None:
    """Refuse a file that is no tar archive, or the stump of one."""
    try:
        if tarfile.is_tarfile(path):
            return
    except DAMAGED as error:
        raise damaged(path, error) from error
    raise TraceError(f"{path}: must be a tar archive of Chakra traces, got something else.")


def is_messages(head: str) -> bool:
    """Whether JSON that begins like this was made of protocol buffers."""
    return '"traceEvents"' not in head and ('"durationMicros"' in head or '"ctrlDeps"' in head)


def _times(nodes: Nodes, tally: Tally) -> tuple[float, float]:
    computing = talking = 0.0
    for node in nodes:
        seconds = _seconds(node, tally)
        if seconds is None:
            continue
        if str(node.get("NodeType")) in _COLLECTIVE or "nccl" in str(node.get("Name")).lower():
            talking += seconds
        else:
            computing += seconds
    return computing, talking


def _seconds(node: dict[str, Any], tally: Tally) -> float | None:
    tally.read += 1
    runtime = node.get("runtime")
    if not isinstance(runtime, int | float) or isinstance(runtime, bool):
        return tally.skip("without a runtime")
    if not 0 <= runtime < MOST_SECONDS / _MICROSECONDS:
        return tally.skip("with a runtime that is not >= 0")
    if node.get("is_cpu_op", True):
        return tally.skip("on the CPU, beside the device")
    tally.kept += 1
    return float(runtime) * _MICROSECONDS


def _graphs(path: Path) -> Iterator[tuple[str, Nodes]]:
    if ending(path) == ".et":
        yield path.stem, message_nodes(path)
    elif ending(path) == ".json":
        made = is_messages(head_of(path, HEAD))
        yield path.name.partition(".json")[0], json_nodes(path) if made else events(path, GRAPH)
    else:
        yield from _members(path)


def _members(path: Path) -> Iterator[tuple[str, Nodes]]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None and member.name.endswith(".json"):
                    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace")
                    yield Path(member.name).stem, events_in(text, f"{path}: {member.name}", GRAPH)
    except DAMAGED as error:
        raise damaged(path, error) from error
