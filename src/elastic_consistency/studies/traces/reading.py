"""A trace of any known kind, told by its name and its content."""

import tarfile
from pathlib import Path

from elastic_consistency.studies.traces.chakra import read_chakra
from elastic_consistency.studies.traces.event_stream import head_of
from elastic_consistency.studies.traces.kineto import read_kineto
from elastic_consistency.studies.traces.operations import (
    computing_times,
    holds_operations,
    read_operations,
)
from elastic_consistency.studies.traces.records import StepTimes, TraceError
from elastic_consistency.studies.traces.step_tables import Columns, read_table

_KINDS = (
    "a Kineto trace (.json, .json.gz), a Chakra trace (.json, .tar.gz) or a table (.csv, .parquet)"
)


def read_trace(paths: list[Path], columns: Columns | None = None) -> StepTimes:
    """Step times from one file, or from one Kineto file a rank.

    Args:
        paths: The files.
        columns: Of a table.

    Raises:
        FileNotFoundError: If there is no such file.
        TraceError: If a file cannot be used.
    """
    kinds = {kind_of(path) for path in paths}
    if len(paths) > 1 and kinds != {"kineto"}:
        raise TraceError(f"{paths[1]}: several files are read for Kineto traces only.")
    (kind,) = kinds
    if kind == "operations":
        return computing_times(paths[0], read_operations(paths[0]))
    if kind == "table":
        return read_table(paths[0], columns)
    return read_kineto(paths) if kind == "kineto" else read_chakra(paths[0])


def kind_of(path: Path) -> str:
    """Kind of a file: kineto, chakra, operations or table.

    Raises:
        FileNotFoundError: If there is no such file.
        TraceError: If it is none of them.
    """
    if path.suffix == ".parquet" or ".csv" in path.suffixes:
        path.stat()
        return "operations" if path.suffix == ".parquet" and _has_operations(path) else "table"
    if ".tar" in path.suffixes and tarfile.is_tarfile(path):
        return "chakra"
    if ".json" in path.suffixes:
        head = head_of(path, 1 << 20)
        return "chakra" if '"workload_graph"' in head else "kineto"
    path.stat()
    raise TraceError(f"{path}: must be {_KINDS}.")


def _has_operations(path: Path) -> bool:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return holds_operations(parquet.read_schema(path).names)
    except pa.ArrowException:
        return False  # the reader of tables says what is wrong with it
