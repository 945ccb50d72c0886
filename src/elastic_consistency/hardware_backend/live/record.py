"""A record on disk of what a rank did, for runs that do not live to report it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TextIO, final

from elastic_consistency.hardware_backend.live.clock import Clock
from elastic_consistency.hardware_backend.live.log import Entry
from elastic_consistency.schedule import Op


@final
class Record:
    """One line of JSON an operation, handed to the system at once.

    Args:
        file: Where to write, None to write nothing.
    """

    def __init__(self, file: TextIO | None) -> None:
        self._file = file

    def write(self, entry: Entry) -> None:
        """Write an entry down; a killed process loses nothing that was written."""
        if self._file is not None:
            self._file.write(json.dumps(asdict(entry) | {"op": entry.op.name}) + "\n")


@contextmanager
def open_record(folder: str, rank: int, clock: Clock) -> Iterator[Record]:
    """The record of one rank; its first line tells how its clock relates to rank 0's."""
    if not folder:
        yield Record(None)
        return
    reading = clock.readings[0]
    with (Path(folder) / f"rank{rank}.jsonl").open("w", buffering=1, encoding="utf-8") as file:
        head = {"rank": rank, "clock_offset_s": reading.offset, "clock_error_s": reading.error}
        file.write(json.dumps(head) + "\n")
        yield Record(file)


def read_record(path: Path) -> tuple[dict[str, float], list[Entry]]:
    """The head and the entries of a record; a last line that was cut off is left out."""
    lines = path.read_text(encoding="utf-8").split("\n")
    head, *told = [json.loads(line) for line in lines[:-1]]
    return head, [Entry(**(line | {"op": Op[line["op"]]})) for line in told]
