"""How long work on a large file will take, from a small piece of the same work."""

import io
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.storage import load_valid_schedule
from elastic_consistency.simulator import Cluster, Until, Worker, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.studies.traces.event_stream import ending, events_in, open_text
from elastic_consistency.studies.traces.records import TraceError

_LARGE_ROWS = 500_000  # what is shorter takes no time that anybody notices
_PILOT_JOBS = 20_000
_LARGE_BYTES = 1 << 24
_PILOT_CHARACTERS = 1 << 20
_PIECES = 1 << 17, 1 << 21  # bytes of a table
_BYTES_A_ROW = 16


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
    try:
        return rows * _seconds_of_a_row(work)
    except OSError:  # no room for a trial, which is no reason to fail
        return 0.0


def _seconds_of_a_row(work: Callable[[Schedule], Any]) -> float:
    cluster = Cluster((Worker(Exponential(1.0)),) * 16)
    pilot = simulate(AsynchronousServer(), cluster, until=Until(jobs=_PILOT_JOBS), seed=0)
    with TemporaryDirectory() as aside:
        path = Path(aside) / "pilot.parquet"
        pilot.save(path)
        load_valid_schedule(path)  # the first one pays for what is loaded
        begin = perf_counter()
        work(load_valid_schedule(path))
        return (perf_counter() - begin) / len(pilot.rows)


def _rows_in(path: Path) -> int:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        return parquet.read_metadata(path).num_rows
    except (arrow.ArrowException, OSError):
        return 0


def seconds_of_traces(paths: list[Path], work: Callable[[Path], Any]) -> float:
    """Seconds of reading large traces, roughly: reading the first piece of each is timed.

    Args:
        paths: The files; what is no trace counts nothing and is told by who reads it.
        work: What is done with a table; in other traces reading takes nearly all of the time.
    """
    large = [path for path in paths if path.is_file() and path.stat().st_size > _LARGE_BYTES]
    return sum(_seconds_of_trace(path, work) for path in large)


def _seconds_of_trace(path: Path, work: Callable[[Path], Any]) -> float:
    last = ending(path)
    try:
        if last == ".json":
            return _seconds_of_events(path)
        if last in (".csv", ".tsv", ".parquet"):
            return _seconds_of_table(path, last, work)
    except Exception:  # noqa: BLE001  (whoever reads all of it says what is wrong)
        pass
    return 0.0


def _seconds_of_events(path: Path) -> float:
    begin = perf_counter()
    with open_text(path) as file:
        head = file.read(_PILOT_CHARACTERS)
    with suppress(TraceError):  # the head of a file ends early
        for _ in events_in(io.StringIO(head), str(path), "traceEvents"):
            pass
    return (perf_counter() - begin) * _size_of_text(path) / len(head)


def _seconds_of_table(path: Path, last: str, work: Callable[[Path], Any]) -> float:
    """From two pieces, so that what is done once for each file is not counted often."""
    cut = _first_rows if last == ".parquet" else _first_lines
    spent, shares = [], []
    with TemporaryDirectory() as aside:
        piece = Path(aside) / f"piece{last}"
        for part in _PIECES:
            shares.append(cut(path, piece, part))
            begin = perf_counter()
            work(piece)
            spent.append(perf_counter() - begin)
    small, large = spent
    return large + (1 - shares[1]) * max(large - small, 0.0) / (shares[1] - shares[0])


def _first_lines(path: Path, piece: Path, part: int) -> float:
    """Write whole lines, about `part` bytes; return their share."""
    with open_text(path) as file:
        text = "".join(file.readlines(part))
    piece.write_text(text, encoding="utf-8")
    return piece.stat().st_size / _size_of_text(path)


def _first_rows(path: Path, piece: Path, part: int) -> float:
    """Write rows, about `part` bytes of two columns of numbers; return their share."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        batch = next(file.iter_batches(batch_size=part // _BYTES_A_ROW))
        parquet.write_table(arrow.Table.from_batches([batch]), piece)
        return batch.num_rows / file.metadata.num_rows


def _size_of_text(path: Path) -> float:
    """Bytes of the text in a file, compressed or not; its first piece tells how far it shrank."""
    size = path.stat().st_size
    with path.open("rb") as file:
        packed = file.read(_PILOT_CHARACTERS)
    if not packed.startswith(b"\x1f\x8b"):
        return size
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = unpacking.decompress(packed, 16 * _PILOT_CHARACTERS)
    left = len(unpacking.unconsumed_tail) + len(unpacking.unused_data)
    return size * len(text) / (len(packed) - left)
