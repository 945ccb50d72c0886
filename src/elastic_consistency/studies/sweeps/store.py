"""Finished points on disk: one line each, appended and flushed before the next one begins."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, final

from elastic_consistency.studies.on_disk.records import plain


@final
class PointStore:
    """An append-only file of finished points.

    A line that was cut off by a crash is dropped when the file is opened; all others stay.

    Args:
        path: The file, made if it is missing.

    Attributes:
        finished: Record of each finished point by its key.
        dropped: Whether a cut-off line was dropped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.finished: dict[str, Any] = {}
        self.dropped = False
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._read()

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

    def _read(self) -> None:
        sound = 0
        with self._path.open("rb") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                    key, record = entry["key"], entry["record"]
                except (ValueError, KeyError, TypeError):
                    break
                if not line.endswith(b"\n"):
                    break
                self.finished[key] = record
                sound += len(line)
        if sound < self._path.stat().st_size:
            self.dropped = True
            os.truncate(self._path, sound)
