"""Step times as a table, CSV or parquet: one step of one worker a row."""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from elastic_consistency.studies.files.errors import nearest
from elastic_consistency.studies.traces.event_stream import DAMAGED, damaged, open_text
from elastic_consistency.studies.traces.records import (
    MOST_SECONDS,
    StepTimes,
    Tally,
    TraceError,
    step_times,
)

_WORKERS = ("worker", "rank", "node", "host", "device")
_TIMES = {
    "seconds": 1.0,
    "duration_s": 1.0,
    "step_s": 1.0,
    "time_s": 1.0,
    "duration_ms": 1e-3,
    "step_ms": 1e-3,
    "time_ms": 1e-3,
    "duration_us": 1e-6,
    "step_us": 1e-6,
    "time_us": 1e-6,
}


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns to read.

    Attributes:
        worker: Column with the worker; None to take the first known name.
        time: Column with the duration; None to take the first name that states its unit.
        seconds_per_unit: Seconds of one unit of the duration; None if its name states it.
    """

    worker: str | None = None
    time: str | None = None
    seconds_per_unit: float | None = None


def read_table(path: Path, columns: Columns | None = None) -> StepTimes:
    """Step times by worker; rows without a number > 0 are skipped and counted.

    Raises:
        TraceError: If a column is missing or its unit unknown, or no row can be used.
    """
    asked = columns or Columns()
    rows = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    names = next(rows)
    worker = _column(path, names, asked.worker, _WORKERS, "worker")
    time = _column(path, names, asked.time, tuple(_TIMES), "duration")
    unit = _unit(path, time, asked.seconds_per_unit)
    tally, by_worker = Tally(), {}
    for row in rows:
        tally.read += 1
        seconds = _seconds(row, names.index(time), unit, tally)
        if seconds is not None:
            by_worker.setdefault(str(row[names.index(worker)]), []).append(seconds)
            tally.kept += 1
    return step_times(path, "table", by_worker, tally)


def _seconds(row: list[Any], place: int, unit: float, tally: Tally) -> float | None:
    if len(row) <= place:
        return tally.skip("shorter than the heading")
    try:
        value = float(row[place]) * unit
    except (TypeError, ValueError, OverflowError):
        return tally.skip("with a duration that is no number")
    if not value > 0:
        return tally.skip("with a duration that is not > 0")
    if value > MOST_SECONDS:
        return tally.skip(f"with a duration above {MOST_SECONDS:g} s")
    return value


def _unit(path: Path, time: str, given: float | None) -> float:
    if given is not None:
        if not (given > 0 and math.isfinite(given)):
            raise TraceError(f"{path}: seconds_per_unit must be a number > 0, got {given!r}.")
        return given
    if time in _TIMES:
        return _TIMES[time]
    raise TraceError(
        f"{path}: the unit of column {time!r} is unknown: give seconds_per_unit, or rename it "
        f"to one of {', '.join(_TIMES)}."
    )


def _column(
    path: Path, names: list[str], asked: str | None, known: tuple[str, ...], what: str
) -> str:
    if asked is not None:
        if asked not in names:
            listed = ", ".join(names)
            raise TraceError(
                f"{path}: the {what} column must be one of {listed}, got {asked!r}"
                f"{nearest(asked, names)}."
            )
        return asked
    found = [name for name in known if name in names]
    if not found:
        raise TraceError(
            f"{path}: no {what} column: name one of {', '.join(n for n in names if n) or 'none'}, "
            f"or use one of {', '.join(known)}."
        )
    return found[0]


def _csv(path: Path) -> Iterator[list[Any]]:
    with open_text(path) as file:
        try:
            heading = file.readline()
            mark = max(",;\t", key=heading.count)
            yield next(csv.reader([heading], delimiter=mark), [])
            rows = csv.reader(file, delimiter=mark)
        except DAMAGED as error:
            raise damaged(path, error) from error
        try:
            yield from rows
        except DAMAGED as error:
            raise damaged(path, error) from error
        except csv.Error as error:
            raise TraceError(f"{path}: is not CSV at line {1 + rows.line_num}: {error}.") from error


def _parquet(path: Path) -> Iterator[list[Any]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        yield list(file.schema_arrow.names)
        for batch in file.iter_batches():
            yield from (list(row) for row in zip(*batch.to_pydict().values(), strict=True))
    except pa.ArrowException as error:
        line = str(error).splitlines()[0]
        raise TraceError(f"{path}: is not parquet: {line}.") from error
