"""Schedules on disk: one parquet file with a versioned, self-describing header.

Entry k of the columns time_s ... keep is row k; entry k of the columns job_* describes job k;
entry k of message_* describes message k. A table that is shorter than the others is padded
with nulls, so one file holds everything and any parquet reader can open it.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency._whole_files import whole_file
from elastic_consistency.schedule.errors import ScheduleError
from elastic_consistency.schedule.table import (
    FORMAT_VERSION,
    Annotation,
    Decision,
    Jobs,
    Messages,
    Metadata,
    Rows,
    Schedule,
)

_HEADER = b"elastic_consistency.schedule"
_CHECKSUM = b"elastic_consistency.schedule.sha256"
# Column in the file, and where it belongs: table, field, type, meaning.
_COLUMNS: dict[str, tuple[str, str, type, str]] = {
    "time_s": ("rows", "time", np.float64, "seconds since the start"),
    "op": ("rows", "op", np.int8, "operation, see 'operations'"),
    "worker": ("rows", "worker", np.int32, "who acts; -1 is the server"),
    "job": ("rows", "job", np.int64, "job, -1 for none"),
    "message": ("rows", "message", np.int64, "message, -1 for none"),
    "replica": ("rows", "replica", np.int32, "replica, -1 for none"),
    "block": ("rows", "block", np.int32, "block, -1 for the whole model"),
    "weight": ("rows", "weight", np.float64, "factor on what is added, put or mixed"),
    "keep": ("rows", "keep", np.float64, "share that the replica keeps, -1 for none"),
    "job_worker": ("jobs", "worker", np.int32, "who computes job k"),
    "job_round": ("jobs", "round", np.int64, "synchronous round of job k, -1 for none"),
    "job_block": ("jobs", "block", np.int32, "block of job k, -1 for the whole model"),
    "job_begin_s": ("jobs", "begin", np.float64, "when job k begins to compute; NaN: never"),
    "job_share": ("jobs", "share", np.float64, "weight of job k in the auxiliary sequence"),
    "message_moves": ("messages", "moves", np.bool_, "message k moves mass instead of copying"),
    "message_in_flight": ("messages", "in_flight", np.bool_, "message k never arrived"),
}


@final
class StorageError(ValueError):
    """A file that cannot be read as a schedule, and why."""


def save_schedule(schedule: Schedule, path: Path) -> None:
    """Write `schedule` to `path`, atomically: an interrupted write leaves nothing behind."""
    import pyarrow.parquet as parquet

    table = _to_arrow(schedule)
    floats = [name for name, (_, _, dtype, _) in _COLUMNS.items() if dtype is np.float64]
    with whole_file(path) as beside:
        parquet.write_table(
            table,
            beside,
            compression="zstd",
            use_dictionary=[name for name in _COLUMNS if name not in floats],
            use_byte_stream_split=floats,
            write_page_checksum=True,
        )


def load_schedule(path: Path) -> Schedule:
    """Read a schedule; nothing but the file's own bytes is trusted.

    Raises:
        FileNotFoundError: If there is no such file.
        StorageError: If the file is truncated, corrupted, of another kind, or of a newer
            format.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no schedule at {path}.")
    header, schedule = _read(path)
    if schedule.digest() != header.get("digest"):
        raise StorageError(f"{path} is corrupted: its digest does not match its contents.")
    return schedule


def load_valid_schedule(path: Path) -> Schedule:
    """Read a schedule that somebody else may have made: every invariant is checked.

    Raises:
        FileNotFoundError: If there is no such file.
        StorageError: If the file cannot be read, or the schedule breaks one of its invariants;
            the message names the file and the row.
    """
    schedule = load_schedule(path)
    try:
        schedule.check()
    except ScheduleError as error:
        raise StorageError(f"{path}: {error}.") from error
    return schedule


def _read(path: Path) -> tuple[dict[str, Any], Schedule]:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            header = _checked_header(path, file.schema_arrow.metadata or {})
            return header, _schedule(header, file)
    except StorageError:
        raise
    except (arrow.ArrowException, OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StorageError(
            f"{path} is no readable schedule: it is truncated, corrupted or not a parquet file "
            f"({str(error).splitlines()[0]})."
        ) from error
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise StorageError(f"{path} has a damaged header or damaged columns: {what}.") from error


def _checked_header(path: Path, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    text = metadata.get(_HEADER)
    if text is None:
        raise StorageError(f"{path} is a parquet file, but not a schedule: it has no header.")
    if hashlib.sha256(text).hexdigest().encode() != metadata.get(_CHECKSUM):
        raise StorageError(f"{path} is corrupted: its header does not match its checksum.")
    header = json.loads(text)
    version = header.get("format_version") if isinstance(header, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise StorageError(f"{path} has a header without a format version.")
    if version > FORMAT_VERSION:
        raise StorageError(
            f"{path} has format {version}; this version reads up to {FORMAT_VERSION}. "
            "Install a newer elastic-consistency."
        )
    return header


def _to_arrow(schedule: Schedule) -> Any:
    import pyarrow as arrow

    length = max(len(schedule.rows), len(schedule.jobs), len(schedule.messages))
    columns = {}
    for name, (table, field, _, _) in _COLUMNS.items():
        values = arrow.array(getattr(getattr(schedule, table), field))
        padding = arrow.nulls(length - len(values), values.type)
        columns[name] = arrow.chunked_array([values, padding]).combine_chunks()
    text = json.dumps(_header(schedule)).encode()
    checksum = hashlib.sha256(text).hexdigest()
    return arrow.table(columns).replace_schema_metadata({_HEADER: text, _CHECKSUM: checksum})


def _header(schedule: Schedule) -> dict[str, Any]:
    from elastic_consistency.schedule.ops import Op

    return schedule.describe() | {
        "n_rows": len(schedule.rows),
        "n_jobs": len(schedule.jobs),
        "n_messages": len(schedule.messages),
        "digest": schedule.digest(),
        "columns": {name: meaning for name, (_, _, _, meaning) in _COLUMNS.items()},
        "operations": {op.name: int(op) for op in Op},
    }


def _schedule(header: dict[str, Any], file: Any) -> Schedule:
    """Read column by column, so that each finds the memory that the one before left."""
    lengths = {name: int(header[f"n_{name}"]) for name in ("rows", "jobs", "messages")}
    parts: dict[str, dict[str, np.ndarray]] = {name: {} for name in lengths}
    for name, (part, field, dtype, _) in _COLUMNS.items():
        values = file.read(columns=[name])[name].slice(0, lengths[part])
        if len(values) != lengths[part] or values.null_count:
            raise ValueError(f"column {name} must hold {lengths[part]} values")
        parts[part][field] = np.ascontiguousarray(values.to_numpy(), dtype)
    return Schedule(
        Rows(**parts["rows"]),
        Jobs(**parts["jobs"]),
        Messages(**parts["messages"]),
        _metadata(header),
    )


def _metadata(header: dict[str, Any]) -> Metadata:
    if not isinstance(header["provenance"], dict):
        raise ValueError(f"provenance must be a table, got {header['provenance']!r}")
    return Metadata(
        n_workers=int(header["n_workers"]),
        hosts=tuple(int(host) for host in header["hosts"]),
        block_sizes=tuple(int(size) for size in header["block_sizes"]),
        seed=int(header["seed"]),
        decisions=tuple(
            Decision(time, question, tuple(operands), answer)
            for time, question, operands, answer in header["decisions"]
        ),
        annotations=tuple(Annotation(*entry) for entry in header["annotations"]),
        provenance=header["provenance"],
        format_version=int(header["format_version"]),
    )
