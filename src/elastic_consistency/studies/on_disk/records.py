"""Results as plain JSON types."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

Plain = dict[str, Any] | list[Any] | str | float | int | bool | None


def plain(value: Any, *, lossless: bool = False) -> Plain:
    """`value` in the types of JSON, which has no infinities and no NaN.

    Args:
        value: Dataclasses, mappings, sequences, sets, arrays, enumerations, paths and numbers,
            nested at will.
        lossless: Write what is not finite as "inf", "-inf" or "nan", from which `restored`
            reads it back; otherwise as None.

    Raises:
        TypeError: If something else is met.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), lossless=lossless) for f in fields(value)}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), lossless=lossless)
    return _plain_builtin(value, lossless=lossless)


def _plain_builtin(value: Any, *, lossless: bool) -> Plain:
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value) if lossless else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry, lossless=lossless) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(entry, lossless=lossless) for entry in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(entry, lossless=lossless) for entry in value]
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"A result must consist of JSON types, got {type(value).__name__}.")
