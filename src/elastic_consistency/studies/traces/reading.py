"""A trace of any known kind, told by its name and its content."""

from pathlib import Path

from elastic_consistency.studies.traces.chakra import (
    GRAPH,
    is_messages,
    read_chakra,
    require_archive,
)
from elastic_consistency.studies.traces.event_stream import HEAD, ending, head_of
from elastic_consistency.studies.traces.kineto import read_kineto
from elastic_consistency.studies.traces.operations import (
    computing_times,
    holds_operations,
    read_operations,
)
from elastic_consistency.studies.traces.pipedream import holds_layers, read_pipedream
from elastic_consistency.studies.traces.records import StepTimes, TraceError
from elastic_consistency.studies.traces.step_tables import read_table
from elastic_consistency.studies.traces.table_columns import Columns

_KINDS = (
    "a Kineto trace (.json, .json.gz), a Chakra trace (.json, .et, .tar.gz), a table (.csv, .tsv, "
    ".parquet) or a profile of PipeDream (.txt)"
)
_A_FILE_A_RANK = {"kineto", "chakra"}


def read_trace(paths: list[Path], columns: Columns | None = None) -> StepTimes:
    """Step times from one file, or from one Kineto or Chakra file a rank.

    Args:
        paths: The files.
        columns: Of a table.

    Raises:
        FileNotFoundError: If there is no such file.
        TraceError: If a file cannot be used.
    """
    kinds = [kind_of(path) for path in paths]
    if len(set(kinds)) > 1:
        several = " and ".join(sorted(set(kinds)))
        raise TraceError(f"{paths[1]}: several files must be of one kind, got {several}.")
    kind = kinds[0]
    if len(paths) > 1 and kind not in _A_FILE_A_RANK:
        raise TraceError(
            f"{paths[1]}: several files are read for Kineto and Chakra traces only; a table has a "
            "column that names the worker."
        )
    if kind == "operations":
        return computing_times(paths[0], read_operations(paths[0]))
    if kind == "table":
        return read_table(paths[0], columns)
    if kind == "pipedream":
        return read_pipedream(paths[0])
    return read_kineto(paths) if kind == "kineto" else read_chakra(paths)


def kind_of(path: Path) -> str:
    """Kind of a file: kineto, chakra, operations, table or pipedream.

    Raises:
        FileNotFoundError: If there is no such file.
        TraceError: If it is none of them.
    """
    path.stat()
    if path.is_dir():
        raise TraceError(f"{path}: must be a file, got a directory: give the files in it.")
    last = ending(path)
    if last == ".parquet":
        return "operations" if _has_operations(path) else "table"
    if last in (".csv", ".tsv"):
        return "table"
    if last in (".et", ".tar", ".tgz"):
        if last != ".et":
            require_archive(path)
        return "chakra"
    if last == ".json":
        return _kind_of_json(path)
    if last == ".txt" and holds_layers(head_of(path, HEAD)):
        return "pipedream"
    raise TraceError(f"{path}: must be {_KINDS}.")


def _kind_of_json(path: Path) -> str:
    head = head_of(path, HEAD)
    if '"schema"' in head and '"nodes"' in head and '"traceEvents"' not in head:
        raise TraceError(
            f"{path}: is an execution trace of PyTorch, which holds no durations: give the Kineto "
            "trace of the same run, or the Chakra trace that both give together."
        )
    return "chakra" if f'"{GRAPH}"' in head or is_messages(head) else "kineto"


def _has_operations(path: Path) -> bool:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return holds_operations(parquet.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return False  # the reader of tables says what is wrong with it
