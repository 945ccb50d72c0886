"""Files that are written whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

from elastic_consistency.studies.records import plain


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file; whoever is interrupted, or has no room, leaves the old one as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, record: Any) -> None:
    """Write dataclasses, arrays and plain types as JSON from which they can be restored."""
    text = json.dumps(plain(record, lossless=True), indent=1, allow_nan=False)
    write_whole(path, text + "\n")
