"""Finished parts of a study on disk, so that whoever was interrupted repeats none of them.

A part is a schedule or a handful of arrays. Its name is a digest of everything that it depends
on, the code included, so nothing that is found can be out of date. Each is written whole or not
at all; one that a broken disk has damaged is computed again.
"""

import hashlib
import inspect
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, final
from zipfile import BadZipFile

import numpy as np

import elastic_consistency
from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.storage import StorageError
from elastic_consistency.studies.whole_files import write_whole

Arrays = dict[str, np.ndarray]


@final
@dataclass(frozen=True, slots=True)
class FinishedWork:
    """A folder of finished parts.

    Attributes:
        folder: Where they are; None keeps nothing.
    """

    folder: Path | None = None

    def schedule(self, of: tuple[Any, ...], simulate: Callable[[], Schedule]) -> Schedule:
        """The schedule that depends on the values `of`, simulated if it is not there."""
        if self.folder is None:
            return simulate()
        path = self.folder / f"{digest_of(of)}.parquet"
        with suppress(FileNotFoundError, StorageError):
            return Schedule.load(path)
        made = simulate()
        self.folder.mkdir(parents=True, exist_ok=True)
        made.save(path)
        return made

    def arrays(self, of: tuple[Any, ...], compute: Callable[[], Arrays]) -> Arrays:
        """The arrays that depend on the values `of`, computed if they are not there."""
        if self.folder is None:
            return compute()
        path = self.folder / f"{digest_of(of)}.npz"
        with (
            suppress(FileNotFoundError, EOFError, ValueError, BadZipFile),
            np.load(path, allow_pickle=False) as found,
        ):
            return dict(found)
        made = compute()
        write_whole(path, _packed(made))
        return made

    def told(self) -> str:
        """Where how many parts are, in words."""
        count = self.count()
        return f"{count} finished part{'s are' if count != 1 else ' is'} in {self.folder}"

    def count(self) -> int:
        """Number of finished parts."""
        if self.folder is None or not self.folder.is_dir():
            return 0
        return sum(path.suffix in (".parquet", ".npz") for path in self.folder.iterdir())

    def clear(self) -> None:
        """Remove all of them, as what they were for is finished, too."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def digest_of(*values: Any) -> str:
    """SHA-256 of values, nested at will, and of the code of this package.

    Args:
        values: Dataclasses, tuples, arrays, enumerations, numbers and texts. Of a class from
            elsewhere the file counts that defines it.
    """
    state = hashlib.sha256(_code_of_the_package())
    _feed(state, values)
    return state.hexdigest()[:32]


def _packed(arrays: dict[str, Any]) -> bytes:
    buffer = BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _feed(state: Any, value: Any) -> None:
    if is_dataclass(value) and not isinstance(value, type):
        cls = type(value)
        state.update(f"({cls.__module__}.{cls.__qualname__}".encode() + _code_of(cls))
        for field in fields(value):
            state.update(field.name.encode())
            _feed(state, getattr(value, field.name))
    elif isinstance(value, np.ndarray):
        state.update(f"[{value.dtype.str}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list):
        state.update(f"<{len(value)}".encode())
        for entry in value:
            _feed(state, entry)
    elif isinstance(value, Mapping):
        _feed(state, sorted(value.items()))
    elif isinstance(value, set | frozenset):
        _feed(state, sorted(value, key=repr))
    elif value is None or isinstance(value, str | bool | int | float | Enum | np.generic):
        state.update(f"{value!r};".encode())
    else:
        raise TypeError(f"A digest is of plain values, got {type(value).__name__}.")


@cache
def _code_of_the_package() -> bytes:
    folder = Path(elastic_consistency.__file__).parent
    state = hashlib.sha256(np.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        state.update(path.read_bytes())
    return state.digest()


@cache
def _code_of(cls: type) -> bytes:
    if cls.__module__.startswith("elastic_consistency."):
        return b""
    try:
        return Path(inspect.getfile(cls)).read_bytes()
    except (OSError, TypeError):
        return b""  # typed in at a prompt
