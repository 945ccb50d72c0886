"""Events of a JSON trace one by one, however long the file is."""

import gzip
import json
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from elastic_consistency.studies.traces.records import TraceError

HEAD = 1 << 16  # characters that tell what kind of file it is
_CHUNK = 1 << 20
_LONGEST_EVENT = 1 << 26  # characters
_CUT = 64  # a value that the end of the window cuts fails this near to it
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError)
_BETWEEN = re.compile(r"[\s,]*")


def ending(path: Path) -> str:
    """Last ending of a name in small letters, that of compression left out, as .json."""
    endings = [name.lower() for name in path.suffixes]
    compressed = endings[-1:] == [".gz"] and len(endings) > 1
    return "".join(endings[-2:-1] if compressed else endings[-1:])


def open_text(path: Path) -> IO[str]:
    """A text file, compressed or not; bytes that are no UTF-8 are replaced.

    Raises:
        TraceError: If it is UTF-16.
    """
    with path.open("rb") as file:
        start = file.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        raise TraceError(f"{path}: must be text in UTF-8, got UTF-16.")
    if start == b"\x1f\x8b":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace")
    return path.open(encoding="utf-8-sig", errors="replace")


def events(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """The objects of the array called `name`, or of the file if it is an array itself.

    What is no object in that array comes out as an empty one.

    Args:
        path: A JSON file, perhaps compressed by gzip.
        name: Name of the array.

    Raises:
        TraceError: If the file ends early or is not JSON, with the position.
    """
    with open_text(path) as file:
        yield from events_in(file, str(path), name)


def events_in(file: IO[str], place: str, name: str) -> Iterator[dict[str, Any]]:
    """The same from an open file; see `events`.

    Args:
        file: The text.
        place: What errors call it.
        name: Name of the array.
    """
    try:
        for found in _Reader(place, file).entries(name):
            yield found if isinstance(found, dict) else {}
    except DAMAGED as error:
        raise damaged(place, error) from error


def json_values(path: Path) -> Iterator[Any]:
    """Values of a file that holds several, one after the other.

    Raises:
        TraceError: If the file ends early or is not JSON, with the position.
    """
    try:
        with open_text(path) as file:
            yield from _Reader(str(path), file).values()
    except DAMAGED as error:
        raise damaged(path, error) from error


def head_of(path: Path, characters: int) -> str:
    """The first characters of a text file, compressed or not.

    Raises:
        TraceError: If a compressed file is damaged.
    """
    try:
        with open_text(path) as file:
            return file.read(characters)
    except DAMAGED as error:
        raise damaged(path, error) from error


def damaged(path: Path | str, error: Exception) -> TraceError:
    """What is said of a compressed file that cannot be read to its end."""
    return TraceError(f"{path}: the compressed file is damaged: {error}.")


class _Reader:
    """A window on the text that holds at least the object being read."""

    def __init__(self, place: str, file: IO[str]) -> None:
        self._path, self._file = place, file
        self._text, self._place, self._before = "", 0, 0
        self._decoder = json.JSONDecoder()

    def entries(self, name: str) -> Iterator[Any]:
        self._find_array(name)
        while True:
            if not self._skip():
                raise TraceError(f"{self._path}: ends in the middle, at character {self._at()}.")
            if self._text[self._place] == "]":
                return
            yield self._value()

    def values(self) -> Iterator[Any]:
        while self._skip():
            yield self._value()

    def _find_array(self, name: str) -> None:
        start = re.compile(rf'"{re.escape(name)}"\s*:\s*\[')
        self._more()
        if self._text.lstrip().startswith("["):
            self._place = self._text.index("[") + 1
            return
        while (match := start.search(self._text)) is None:
            # The name may lie across two pieces: keep as much as it is long.
            keep = max(0, len(self._text) - len(name) - 64)
            self._forget(keep)
            if not self._more():
                raise TraceError(f"{self._path}: holds no array {name!r}.")
        self._place = match.end()

    def _skip(self) -> bool:
        """Go to the next value; False at the end of the file."""
        while True:
            self._place = _BETWEEN.match(self._text, self._place).end()  # type: ignore[union-attr]
            if self._place < len(self._text):
                return True
            if not self._more():
                return False

    def _value(self) -> Any:
        while True:
            try:
                value, self._place = self._decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                where = self._before + error.pos
                if not self._is_cut(error) or not self._more():
                    raise TraceError(
                        f"{self._path}: is not JSON at character {where}: {error.msg}."
                    ) from error
            except (ValueError, RecursionError) as error:
                raise TraceError(
                    f"{self._path}: holds what is no event of a trace near character {self._at()}: "
                    f"{str(error).partition(';')[0]}."
                ) from error
            else:
                return value

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether more text may mend it; else a long file would be read to its end in vain."""
        if len(self._text) - self._place > _LONGEST_EVENT:
            return False
        near = error.pos > len(self._text) - _CUT
        return near or error.msg.startswith("Unterminated string")

    def _more(self) -> bool:
        piece = self._file.read(_CHUNK)
        self._forget(self._place)
        self._text += piece
        return bool(piece)

    def _forget(self, count: int) -> None:
        self._text, self._before = self._text[count:], self._before + count
        self._place = max(0, self._place - count)

    def _at(self) -> int:
        return self._before + self._place
