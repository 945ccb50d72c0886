"""Files that are written whole or not at all."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elastic_consistency._whole_files import whole_file
from elastic_consistency.studies.on_disk.records import plain


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file; whoever is interrupted, or has no room, leaves the old one as it was."""
    with whole_file(path) as beside:
        beside.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def staged(folder: Path, stage: Path, *, last: str) -> Iterator[Path]:
    """A folder for many files that belong together; they move into `folder` when all are there.

    Args:
        folder: Where they shall be.
        stage: Where they are until then; on the same disk. What it holds is removed.
        last: Name of the file that moves last, and so says that the others are there.
    """
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    yield stage
    ready = sorted(path.relative_to(stage) for path in stage.rglob("*") if path.is_file())
    for name in sorted(ready, key=lambda name: str(name) == last):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).replace(folder / name)


def write_json(path: Path, record: Any) -> None:
    """Write dataclasses, arrays and plain types as JSON from which they can be restored."""
    text = json.dumps(plain(record, lossless=True), indent=1, allow_nan=False)
    write_whole(path, text + "\n")
