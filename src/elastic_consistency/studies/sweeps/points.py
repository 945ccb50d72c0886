"""The points of a sweep: one study file with some fields changed, each with a key of its own."""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, final

from elastic_consistency._checks import nearest
from elastic_consistency.studies.files.errors import FieldError
from elastic_consistency.studies.on_disk.finished_work import digest_of

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


@final
@dataclass(frozen=True, slots=True)
class Point:
    """One study of a sweep.

    Attributes:
        where: Value of each swept field.
        content: The whole study as plain values.
        key: Digest of the content and of the code; equal studies have equal keys.
    """

    where: dict[str, Any]
    content: dict[str, Any]
    key: str


def points_of(content: Mapping[str, Any], modules: tuple[str, ...] = ()) -> tuple[Point, ...]:
    """Every combination of the values of the axes, the last axis fastest.

    Args:
        content: Plain values of a study file.
        modules: Further modules whose classes the file may name; their code counts in the keys.

    Raises:
        FieldError: If an axis names a field that the file does not have, or that another one has.
    """
    axes = content.get("sweep", [])
    for position, axis in enumerate(axes):
        if axis["field"] in [other["field"] for other in axes[:position]]:
            problem = f"must be swept by one axis, got {axis['field']!r} again."
            raise FieldError(f"sweep[{position}].field", problem)
    single = {key: value for key, value in content.items() if key != "sweep"}
    points, code = [], _code_of(modules)
    for values in product(*(axis["values"] for axis in axes)):
        study = deepcopy(single)
        for position, (axis, value) in enumerate(zip(axes, values, strict=True)):
            set_field(study, axis["field"], value, f"sweep[{position}].field")
        where = {axis["field"]: value for axis, value in zip(axes, values, strict=True)}
        points.append(Point(where, study, _key(study, code)))
    return tuple(points)


def set_field(content: dict[str, Any], field: str, value: Any, place: str) -> None:
    """Put `value` at the path `field`, which must exist.

    Args:
        content: The plain values of a study; changed.
        field: Path, as in cluster.workers[0].slowdown.
        value: What to put there.
        place: Where the path stands, for errors.

    Raises:
        FieldError: If there is no such field.
    """
    steps = [name or int(number) for name, number in _STEP.findall(field)]
    inner: Any = content
    for step in steps[:-1]:
        inner = inner[_known(inner, step, field, place)]
    inner[_known(inner, steps[-1] if steps else "", field, place)] = value


def _known(inner: Any, step: str | int, field: str, place: str) -> Any:
    if isinstance(inner, dict) and step in inner:
        return step
    if isinstance(inner, list) and isinstance(step, int) and step < len(inner):
        return step
    known = (
        [str(key) for key in (inner if isinstance(inner, dict) else range(len(inner)))]
        if (isinstance(inner, dict | list))
        else []
    )
    hint = nearest(str(step), known)
    raise FieldError(place, f"must name a field that the file gives, got {field!r}{hint}.")


def _key(content: Mapping[str, Any], code: bytes) -> str:
    return digest_of(json.dumps(content, sort_keys=True, default=str), code)


def _code_of(modules: tuple[str, ...]) -> bytes:
    """Source of modules from elsewhere; of a package, all of it."""
    sources = []
    for name in modules:
        path = Path(import_module(name).__file__ or "")
        own = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
        sources += [source.read_bytes() for source in own if source.is_file()]
    return b"\0".join(sources)
