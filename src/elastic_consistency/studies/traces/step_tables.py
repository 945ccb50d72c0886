"""Step times as a table, CSV or parquet: one step of one worker a row."""

import math
from array import array
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from elastic_consistency.studies.traces.records import (
    MOST_SECONDS,
    StepTimes,
    Tally,
    TraceError,
    step_times,
)
from elastic_consistency.studies.traces.table_columns import Columns
from elastic_consistency.studies.traces.table_rows import OpenTable, open_table

_SURELY_A_CLOCK = 10  # steps that only grow: by chance once in 10! = 3.6 million


def read_table(path: Path, columns: Columns | None = None) -> StepTimes:
    """Step times by worker; rows without a worker or a number > 0 are skipped and counted.

    Raises:
        TraceError: If a column is missing or its unit unknown, no row can be used, or the column
            holds clock readings.
    """
    table = open_table(path, columns or Columns())
    tally = Tally()
    by_worker: dict[str, array[float]] = {}
    for worker, time in table.rows:
        tally.read += 1
        name = _name(worker)
        if name is None:
            tally.skip("without the name of a worker")
            continue
        seconds = _seconds(time, table, tally)
        if seconds is not None:
            by_worker.setdefault(name, array("d")).append(seconds)
            tally.kept += 1
    _refuse_a_clock(path, table, by_worker)
    return step_times(path, "table", by_worker, tally)


def _name(worker: Any) -> str | None:
    if isinstance(worker, float):
        if not math.isfinite(worker):
            return None
        worker = int(worker) if worker.is_integer() else worker
    name = "" if worker is None else str(worker).strip()
    return name if name.isprintable() and name else None


def _seconds(given: Any, table: OpenTable, tally: Tally) -> float | None:
    if given is None:
        return tally.skip("without a duration")
    try:
        value = _number(given, comma=table.comma) * table.columns.seconds_per_unit
    except (TypeError, ValueError, OverflowError):
        return tally.skip("with a duration that is no number")
    if not value > 0:
        return tally.skip("with a duration that is not > 0")
    if value > MOST_SECONDS:
        return tally.skip(f"with a duration above {MOST_SECONDS:g} s")
    return value


def _number(given: str | float | Decimal, *, comma: bool) -> float:
    """A number; in a table that parts its columns by another mark, 1,5 is one and a half."""
    if not isinstance(given, str):
        return float(given)
    if "_" in given:
        raise ValueError(given)
    if comma and "." not in given and given.count(",") == 1:
        return float(given.replace(",", "."))
    return float(given)


def _refuse_a_clock(path: Path, table: OpenTable, by_worker: "dict[str, array[float]]") -> None:
    if not table.columns.clock_like:
        return
    several = [times for times in by_worker.values() if len(times) > 1]
    growing = all(a < b for times in several for a, b in pairwise(times))
    if growing and max(map(len, several), default=0) >= _SURELY_A_CLOCK:
        name = table.columns.time_name
        raise TraceError(
            f"{path}: column {name!r} must hold durations, got values that only grow, as those of "
            f"a clock do: give the differences, or name it as time_column if it does."
        )
