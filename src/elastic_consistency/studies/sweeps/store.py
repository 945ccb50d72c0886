"""Finished points on disk: one line each, appended and flushed before the next one begins."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, final

from elastic_consistency.studies.on_disk.records import plain


@final
class StoreInUseError(ValueError):
    """Another process is writing into the store."""


@final
class PointStore:
    """An append-only file of finished points.

    A line that was cut off by a crash is dropped when somebody writes; all others stay, those
    that are no points, too.

    Args:
        path: The file, made when somebody writes.

    Attributes:
        finished: Record of each finished point by its key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.finished: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._read()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from writing; what they wrote before is read.

        Raises:
            StoreInUseError: If another process is writing.
        """
        with self._path.open("ab") as file:
            _lock(file, self._path)
            whole = self._read()
            if whole < self._path.stat().st_size:
                os.truncate(self._path, whole)
            yield

    def add(self, key: str, record: Any) -> None:
        """Append the record of a finished point; it is on the disk when this returns."""
        line = json.dumps({"key": key, "record": plain(record)}, allow_nan=False) + "\n"
        start = self._path.stat().st_size if self._path.exists() else 0
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # closing the file has tried to write the rest once more
            with suppress(OSError):
                os.truncate(self._path, start)  # a full disk must not leave half a line
            error.filename = str(self._path)
            raise
        self.finished[key] = json.loads(line)["record"]

    def _read(self) -> int:
        """Take in every point; returns the bytes of all lines that are whole."""
        whole = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                with suppress(ValueError, KeyError, TypeError, RecursionError):
                    entry = json.loads(line)
                    key, record = entry["key"], entry["record"]
                    if isinstance(key, str) and isinstance(record, dict):
                        self.finished[key] = record
        return whole


def _lock(file: IO[bytes], path: Path) -> None:
    """Whoever dies lets go of it; where the system knows no such locks, nobody is kept out."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreInUseError(
            f"{path} must be written by one process at a time, and another one is at it: wait for "
            "it, or name another --output."
        ) from error
