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
from functools import cache, partial
from io import BytesIO
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any, final
from zipfile import BadZipFile

import numpy as np

import elastic_consistency
from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.storage import StorageError
from elastic_consistency.studies.on_disk.whole_files import write_whole

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
            path.open("rb") as file,  # NumPy leaves it open where it finds damage
            np.load(file, allow_pickle=False) as found,
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
        values: Dataclasses, tuples, mappings, arrays, enumerations, numbers, texts, paths, classes
            and functions. Of classes and functions from elsewhere the file counts that defines
            them, and of functions also what they have bound.

    Raises:
        TypeError: If a value is none of these; the message names the field.
    """
    state = hashlib.sha256(_code_of_the_package())
    _feed(state, values, "")
    return state.hexdigest()[:32]


def _packed(arrays: dict[str, Any]) -> bytes:
    buffer = BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _feed(state: Any, value: Any, where: str) -> None:
    if isinstance(value, Enum) or _is_plain(value):
        state.update(f"{type(value).__qualname__} {value!r};".encode())
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        state.update(f"[{value.dtype.str}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, type | FunctionType | BuiltinFunctionType):
        state.update(_name_and_code(value))
        for name, bound in _bound_by(value).items():
            _feed(state, bound, f"{where}.{name}")
    else:
        parts = _parts(value, where)
        state.update(f"<{len(parts)}".encode() + _name_and_code(type(value)))
        for name, part in parts:
            state.update(name.encode())
            _feed(state, part, name if name.startswith("[") else f"{type(value).__name__}.{name}")


def _is_plain(value: Any) -> bool:
    plain = str | bytes | bool | int | float | complex | range | PurePath | np.generic
    return value is None or isinstance(value, plain)


def _parts(value: Any, where: str) -> list[tuple[str, Any]]:
    """What a value consists of, each part with its name."""
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple | list):
        return [(f"{where}[{k}]" if where else f"[{k}]", part) for k, part in enumerate(value)]
    if isinstance(value, partial):
        return [("func", value.func), ("args", value.args), ("keywords", value.keywords)]
    if isinstance(value, Mapping):
        return _parts(sorted(value.items(), key=repr), where)
    if isinstance(value, set | frozenset):
        return _parts(sorted(value, key=repr), where)
    allowed = "a value that can be told apart from others: data, a class or a function"
    got = f"{type(value).__module__}.{type(value).__qualname__}"
    raise TypeError(f"{where or 'A value'} must be {allowed}, got {got}.")


def _bound_by(function: Any) -> dict[str, Any]:
    """Values that a function has taken from where it was made; none for a class."""
    if not isinstance(function, FunctionType):
        return {}
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    closed = {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}
    own = {name: value for name, value in closed.items() if value is not function}
    return own | {"defaults": (function.__defaults__, function.__kwdefaults__)}


def _name_and_code(named: Any) -> bytes:
    name = f"({named.__module__}.{named.__qualname__}".encode()
    body = named.__code__.co_code if isinstance(named, FunctionType) else b""
    return name + body + _code_of(named)


@cache
def _code_of_the_package() -> bytes:
    folder = Path(elastic_consistency.__file__).parent
    state = hashlib.sha256(np.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        state.update(path.read_bytes())
    return state.digest()


@cache
def _code_of(named: Any) -> bytes:
    if (named.__module__ or "").startswith("elastic_consistency."):
        return b""
    try:
        return Path(inspect.getfile(named)).read_bytes()
    except (OSError, TypeError):
        return b""  # built in, or typed in at a prompt
