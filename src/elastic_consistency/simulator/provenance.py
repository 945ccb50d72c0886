"""Provenance: protocol, cluster and their parameters as plain JSON types."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby
from math import isfinite
from typing import Any

import numpy as np

_PLAIN = frozenset((type(None), bool, int, str))


def provenance_of(value: Any) -> Any:
    """`value` as nested dictionaries, lists, numbers and strings that JSON can hold.

    A dataclass becomes its class name and its fields; equal neighbours in a tuple, list or
    array are written once, with their number.
    """
    if type(value) in _PLAIN:  # nearly all that a large graph consists of
        return value
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: provenance_of(getattr(value, field.name)) for field in fields(value)}
        return {"type": type(value).__name__, **named}
    if isinstance(value, tuple | list):
        return _runs(value)
    if isinstance(value, np.ndarray):
        return provenance_of(value.tolist())
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def _runs(values: Sequence[Any]) -> list[Any]:
    try:
        runs = [(len(list(group)), provenance_of(first)) for first, group in groupby(values)]
    except ValueError:  # arrays in fields have no single truth value; what is written has one
        runs = [(len(list(group)), first) for first, group in groupby(map(provenance_of, values))]
    if all(count == 1 for count, _ in runs):
        return [first for _, first in runs]
    return [{"times": count, "value": first} for count, first in runs]
