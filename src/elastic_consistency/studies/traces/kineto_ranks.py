"""Which worker a profiler trace is of."""

import json
from pathlib import Path

from elastic_consistency.studies.traces.event_stream import HEAD, head_of
from elastic_consistency.studies.traces.records import TraceError


def worker_names(paths: list[Path]) -> list[str]:
    """The rank that each file states, or the first numbers that no file states.

    Raises:
        TraceError: If a file is given twice, or is damaged.
    """
    for k, path in enumerate(paths):
        if path.resolve() in {other.resolve() for other in paths[:k]}:
            raise TraceError(f"{path}: must be given once, got it twice.")
    stated = [_stated_rank(path) for path in paths]
    free = (str(k) for k in range(2 * len(paths)) if str(k) not in stated)
    return [next(free) if rank is None else rank for rank in stated]


def _stated_rank(path: Path) -> str | None:
    head = head_of(path, HEAD)  # the profiler states it before the events
    place = head.find('"distributedInfo"')
    if place < 0:
        return None
    try:
        info, _ = json.JSONDecoder().raw_decode(head, head.find("{", place))
    except (ValueError, RecursionError):
        return None
    rank = info.get("rank") if isinstance(info, dict) else None
    return str(rank) if isinstance(rank, int) and not isinstance(rank, bool) else None
