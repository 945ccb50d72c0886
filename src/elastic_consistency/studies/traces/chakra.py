"""Chakra execution traces as JSON: one step of one rank a file."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elastic_consistency.studies.traces.records import (
    MOST_SECONDS,
    StepTimes,
    Tally,
    TraceError,
    step_times,
)

_COLLECTIVE = {5, 6, 7}  # send, receive and collective communication, by node type
_MICROSECONDS = 1e-6
_GRAPH = "workload_graph"


def read_chakra(path: Path) -> StepTimes:
    """Seconds of the device operations of each rank; communication is kept apart.

    Operations of the device are added up, as on one stream; where there are none, those of the
    CPU without children would count twice, so such a file is refused.

    Args:
        path: A JSON file with a `workload_graph`, or a tar archive of some, one a rank.

    Raises:
        TraceError: If it holds no such graph.
    """
    tally = Tally()
    own: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    for name, graph in _graphs(path):
        computing = talking = 0.0
        for node in graph:
            seconds = _seconds(node, tally)
            if seconds is None:
                continue
            if node.get("NodeType") in _COLLECTIVE or "nccl" in str(node.get("Name")).lower():
                talking += seconds
            else:
                computing += seconds
        if computing > 0:
            own[name], waits[name] = [computing], [talking]
    return step_times(path, "chakra", own, tally, waits=waits)


def _seconds(node: Any, tally: Tally) -> float | None:
    tally.read += 1
    if not isinstance(node, dict) or not isinstance(node.get("runtime"), int | float):
        return tally.skip("without a runtime")
    if not 0 <= node["runtime"] < MOST_SECONDS / _MICROSECONDS:
        return tally.skip("with a runtime that is not >= 0")
    if node.get("is_cpu_op", True):
        return tally.skip("on the CPU, beside the device")
    tally.kept += 1
    return float(node["runtime"]) * _MICROSECONDS


def _graphs(path: Path) -> Iterator[tuple[str, list[Any]]]:
    if not tarfile.is_tarfile(path):
        yield path.stem, _graph(path, path.name, path.read_bytes())
        return
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None and member.name.endswith(".json"):
                name = Path(member.name).stem
                yield name, _graph(path, member.name, file.read())


def _graph(path: Path, name: str, content: bytes) -> list[Any]:
    try:
        graph = json.loads(content)[_GRAPH]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TraceError(f"{path}: {name} must be JSON with a {_GRAPH!r}: {error}.") from error
    if not isinstance(graph, list):
        raise TraceError(f"{path}: {name}: {_GRAPH} must be a list, got {type(graph).__name__}.")
    return graph
