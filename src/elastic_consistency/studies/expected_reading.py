"""How long work on a large file will take, from a small piece of the same work."""

import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.storage import load_valid_schedule
from elastic_consistency.simulator import Cluster, Until, Worker, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.studies.traces.event_stream import events_in, open_text
from elastic_consistency.studies.traces.records import TraceError

_LARGE_ROWS = 500_000  # what is shorter takes no time that anybody notices
_PILOT_JOBS = 20_000
_LARGE_BYTES = 1 << 24
_PILOT_CHARACTERS = 1 << 20


def seconds_of_rows(paths: tuple[Path, ...], work: Callable[[Schedule], Any]) -> float:
    """Seconds of `work` on each of the schedules in `paths`, roughly; 0 for short ones.

    Reading and working are timed on a simulated schedule of moderate length, and scaled by the
    rows.

    Args:
        paths: Parquet files; what is none of them counts nothing and is told by who reads it.
        work: What is done with each schedule.
    """
    rows = sum(map(_rows_in, paths))
    if rows < _LARGE_ROWS:
        return 0.0
    cluster = Cluster((Worker(Exponential(1.0)),) * 16)
    pilot = simulate(AsynchronousServer(), cluster, until=Until(jobs=_PILOT_JOBS), seed=0)
    with TemporaryDirectory() as aside:
        path = Path(aside) / "pilot.parquet"
        pilot.save(path)
        load_valid_schedule(path)  # the first one pays for what is loaded
        begin = perf_counter()
        work(load_valid_schedule(path))
        return (perf_counter() - begin) * rows / len(pilot.rows)


def _rows_in(path: Path) -> int:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        return parquet.read_metadata(path).num_rows
    except (arrow.ArrowException, OSError):
        return 0


def seconds_of_traces(paths: list[Path]) -> float:
    """Seconds of reading traces of text, roughly: the events of their first megabyte are timed."""
    large = [path for path in paths if path.is_file() and path.stat().st_size > _LARGE_BYTES]
    return sum(path.stat().st_size * _seconds_a_byte(path) for path in large if _is_text(path))


def _is_text(path: Path) -> bool:
    return ".json" in path.suffixes


def _seconds_a_byte(path: Path) -> float:
    """Of the file as it lies on disk, compressed or not."""
    begin = perf_counter()
    with open_text(path) as file:
        head = file.read(_PILOT_CHARACTERS)
        under = getattr(file, "buffer", None)
        packed = getattr(under, "fileobj", None)
        taken = len(head) if packed is None else packed.tell()
    try:
        for _ in events_in(io.StringIO(head), str(path), "traceEvents"):
            pass
    except TraceError:
        pass  # the head of a file ends early
    return (perf_counter() - begin) / max(taken, 1)
