"""The way back from plain JSON types to results."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np


def restored(kind: Any, record: Any) -> Any:
    """The inverse of `plain(value, lossless=True)`: a value of type `kind`.

    Args:
        kind: A dataclass, enumeration, array, builtin, or a tuple, dict, frozenset or union of
            them.
        record: What `plain` made of the value. A null where a number is wanted becomes NaN.

    Raises:
        ValueError: If a field is missing or has the wrong shape; the message names it.
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(kind), record)
    if is_dataclass(kind):
        return _dataclass(kind, record)
    if origin is tuple:
        return _tuple(get_args(kind), record)
    if origin is dict:
        return {key: restored(get_args(kind)[1], entry) for key, entry in record.items()}
    if origin is frozenset:
        return frozenset(restored(get_args(kind)[0], entry) for entry in record)
    return _leaf(kind, record)


def _one_of(kinds: tuple[Any, ...], record: Any) -> Any:
    if record is None and types.NoneType in kinds:
        return None
    return restored(next(kind for kind in kinds if kind is not types.NoneType), record)


def _dataclass(kind: Any, record: Any) -> Any:
    named = get_type_hints(kind)
    wanted = {field.name for field in fields(kind)}
    if not isinstance(record, Mapping) or not wanted <= record.keys():
        missing = ", ".join(sorted(wanted - set(record if isinstance(record, Mapping) else ())))
        raise ValueError(f"{kind.__name__} must have the fields {missing}, which are missing.")
    return kind(**{name: restored(named[name], record[name]) for name in sorted(wanted)})


def _tuple(kinds: tuple[Any, ...], record: Any) -> tuple[Any, ...]:
    if kinds[-1] is ...:
        return tuple(restored(kinds[0], entry) for entry in record)
    return tuple(restored(kind, entry) for kind, entry in zip(kinds, record, strict=True))


def _leaf(kind: Any, record: Any) -> Any:
    if kind is float:
        return float("nan") if record is None else float(record)
    if kind is np.ndarray:
        return _array(record)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(record)
    if kind is not Any and not isinstance(record, kind):
        raise ValueError(f"must be of type {kind.__name__}, got {record!r}")
    return record


def _array(record: Any) -> np.ndarray:
    made = np.array(record)
    return made.astype(float) if made.dtype.kind in "OU" else made  # None, or "inf"
