"""The heading and the rows of a table on disk, CSV or parquet, row by row."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, final

from elastic_consistency.studies.traces.event_stream import DAMAGED, damaged, open_text
from elastic_consistency.studies.traces.records import TraceError
from elastic_consistency.studies.traces.table_columns import (
    ChosenColumns,
    Columns,
    choose_columns,
)

_MARKS = ",;\t|"
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}  # of the duration types of Arrow
Row = tuple[Any, Any]


@final
@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table of which two columns are read.

    Attributes:
        columns: Which ones.
        rows: Worker and duration as the file has them; None for a cell that is missing.
        comma: Whether numbers may be written with a decimal comma.
    """

    columns: ChosenColumns
    rows: Iterator[Row]
    comma: bool = False


def open_table(path: Path, asked: Columns) -> OpenTable:
    """Find the columns in the heading of a table; rows follow as they are taken.

    Raises:
        TraceError: If the file is no table, or a column is not to be found.
    """
    return _parquet(path, asked) if path.suffix.lower() == ".parquet" else _csv(path, asked)


def _csv(path: Path, asked: Columns) -> OpenTable:
    lines = _lines(path)
    heading, before = _heading(path, lines)
    mark = max(_MARKS, key=heading.count)
    rows = csv.reader(chain([heading], lines), delimiter=mark, strict=True)
    names = [name.strip() for name in next(_told(path, rows, before), [])]
    columns = choose_columns(path, names, asked)
    return OpenTable(columns, _cells(columns, _told(path, rows, before)), comma=mark != ",")


def _heading(path: Path, lines: Iterator[str]) -> tuple[str, int]:
    """The first line that is neither blank nor a remark, and how many stand before it."""
    for before, line in enumerate(lines):
        if "\0" in line:
            raise TraceError(f"{path}: must be text in UTF-8, got a zero byte in its heading.")
        if line.strip() and not line.startswith(("#", "sep=")):
            return line, before
    raise TraceError(f"{path}: is empty; a table begins with the names of its columns.")


def _lines(path: Path) -> Iterator[str]:
    try:
        with open_text(path) as file:
            yield from file
    except DAMAGED as error:
        raise damaged(path, error) from error


def _told(path: Path, rows: Any, before: int) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        line = before + rows.line_num
        raise TraceError(f"{path}: is not CSV at line {line}: {error}.") from error


def _cells(columns: ChosenColumns, rows: Iterator[list[str]]) -> Iterator[Row]:
    for row in rows:
        if row:
            yield tuple(  # type: ignore[misc]
                row[place] if place < len(row) else None for place in (columns.worker, columns.time)
            )


def _parquet(path: Path, asked: Columns) -> OpenTable:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise not_parquet(path, error) from error
    typed = {
        field.name: _SECONDS[field.type.unit]
        for field in schema
        if pa.types.is_duration(field.type)
    }
    columns = choose_columns(path, list(schema.names), asked, typed)
    _require_plain(path, schema, columns)
    return OpenTable(columns, _batches(path, schema, columns))


def _batches(path: Path, schema: Any, columns: ChosenColumns) -> Iterator[Row]:
    import pyarrow as pa
    from pyarrow import parquet

    names = [schema.names[place] for place in (columns.worker, columns.time)]
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=names):
                worker, time = (batch.column(name) for name in names)
                if pa.types.is_duration(time.type):
                    time = time.cast(pa.int64())
                yield from zip(worker.to_pylist(), time.to_pylist(), strict=True)
    except (pa.ArrowException, OSError) as error:
        raise not_parquet(path, error) from error


def _require_plain(path: Path, schema: Any, columns: ChosenColumns) -> None:
    from pyarrow import types as is_a

    names_or_numbers = (is_a.is_integer, is_a.is_floating, is_a.is_string, is_a.is_large_string,
                        is_a.is_null)  # fmt: skip
    numbers = (*names_or_numbers, is_a.is_decimal, is_a.is_duration)
    for place, fitting, what in (
        (columns.worker, names_or_numbers, "names or whole numbers"),
        (columns.time, numbers, "numbers"),
    ):
        given = schema.field(place).type
        inner = given.value_type if is_a.is_dictionary(given) else given
        if not any(test(inner) for test in fitting):
            name = schema.names[place]
            raise TraceError(f"{path}: column {name!r} must hold {what}, got {given}.")


def not_parquet(path: Path, error: Exception) -> TraceError:
    """What is said of a file that Arrow cannot read as parquet.

    Raises:
        OSError: The error itself, if it says that there is no such file or no access.
    """
    if isinstance(error, OSError) and error.errno is not None:
        error.filename = error.filename or str(path)
        raise error
    line = str(error).splitlines()[0].rstrip(".")
    return TraceError(f"{path}: is not parquet: {line}.")
