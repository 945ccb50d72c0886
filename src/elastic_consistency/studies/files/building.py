"""Objects from the plain values of a file, field by field, with the place of every error."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin

from elastic_consistency.studies.files.errors import (
    FieldError,
    shown,
    unknown_field,
    unknown_value,
)
from elastic_consistency.studies.files.kinds import field_types, file_fields, kinds

_WORDS = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a text",
}


def build(wanted: Any, value: Any, where: str, *, modules: tuple[str, ...] = ()) -> Any:
    """An object of the type `wanted`.

    Args:
        wanted: A number or text type, a dataclass, an interface of the package, or a tuple,
            optional or union of them.
        value: What the file says.
        where: Path of the field, for errors.
        modules: Further modules whose classes a file may name.

    Raises:
        FieldError: If the value does not fit; the message says what would.
    """
    if get_origin(wanted) in (Union, types.UnionType):
        return _build_union(get_args(wanted), value, where, modules)
    if get_origin(wanted) is tuple:
        return _build_tuple(get_args(wanted), value, where, modules)
    if wanted in _WORDS:
        return _build_plain(wanted, value, where)
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return _build_enum(wanted, value, where)
    if isinstance(wanted, type) and is_dataclass(wanted):
        return _build_fields(wanted, _mapping(value, where), where, modules)
    if isinstance(wanted, type) and wanted.__name__.startswith("Abstract"):
        return build_kind(kinds(wanted, modules), value, where, modules)
    raise FieldError(where, f"cannot be given in a file, as it is a {wanted}.")


def _build_plain(wanted: type, value: Any, where: str) -> Any:
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise FieldError(where, f"must be {_WORDS[wanted]}, got {shown(value)}.")
    return value


def _build_enum(wanted: type[Enum], value: Any, where: str) -> Enum:
    by_name = {member.name.lower(): member for member in wanted}
    if not isinstance(value, str) or value.lower() not in by_name:
        raise unknown_value(where, value, by_name)
    return by_name[value.lower()]


def _build_tuple(parts: tuple[Any, ...], value: Any, where: str, modules: tuple[str, ...]) -> Any:
    if not isinstance(value, list):
        raise FieldError(where, f"must be a list, got {shown(value)}.")
    endless = len(parts) == 2 and parts[1] is Ellipsis
    if not endless and len(value) != len(parts):
        raise FieldError(where, f"must be a list of {len(parts)}, got {shown(value)}.")
    return tuple(
        build(parts[0] if endless else parts[k], entry, f"{where}[{k}]", modules=modules)
        for k, entry in enumerate(value)
    )


def _build_union(parts: tuple[Any, ...], value: Any, where: str, modules: tuple[str, ...]) -> Any:
    if type(None) in parts and value is None:
        return None
    some = [part for part in parts if part is not type(None)]
    plain = [part for part in some if part in _WORDS]
    if len(some) == 1 or (plain and not isinstance(value, Mapping | str)):
        return build((plain or some)[0], value, where, modules=modules)
    choices: dict[str, type] = {}
    for part in some:
        if part not in _WORDS:
            found = kinds(part, modules)
            choices |= found if part.__name__.startswith("Abstract") else _own_kind(part)
    return build_kind(choices, value, where, modules)


def _own_kind(cls: type) -> dict[str, type]:
    from elastic_consistency.studies.files.kinds import kind_name

    return {kind_name(cls): cls}


def build_kind(
    choices: Mapping[str, type], value: Any, where: str, modules: tuple[str, ...]
) -> Any:
    """An object of one of the classes `choices`; see `build` for the rest.

    Args:
        choices: Classes by the name that the field `kind` gives.
        value: The name alone, or a table with `kind` and the fields of the class.
        where: Path of the field, for errors.
        modules: Further modules whose classes a file may name.
    """
    content = {"kind": value} if isinstance(value, str) else dict(_mapping(value, where))
    if "kind" not in content:
        listed = ", ".join(sorted(choices))
        raise FieldError(f"{where}.kind", f"must be given, as one of {listed}.")
    name = content.pop("kind")
    if not isinstance(name, str) or name not in choices:
        raise unknown_value(f"{where}.kind", name, choices)
    return _build_fields(choices[name], content, where, modules)


def _build_fields(
    cls: type, content: Mapping[str, Any], where: str, modules: tuple[str, ...]
) -> Any:
    fields = file_fields(cls)
    for name in content:
        if name not in fields:
            raise unknown_field(where, name, fields)
    given = {}
    for name, field in fields.items():
        if name in content:
            wanted = field_types(cls)[field.name]
            given[field.name] = build(wanted, content[name], f"{where}.{name}", modules=modules)
        elif must_be_given(name, field):
            raise FieldError(f"{where}.{name}", "must be given; it has no default.")
    try:
        return cls(**given)
    except ValueError as error:
        raise FieldError(where, f"is refused: {error}") from error


def must_be_given(name: str, field: "Field[Any]") -> bool:
    """No duration has a silent default, whatever the Python class says."""
    has_default = field.default is not MISSING or field.default_factory is not MISSING
    # It matters only on a link that loses messages.
    duration = name.endswith("_s") and name != "resend_s"
    return not has_default or duration or name in ("jitter", "uplink", "downlink")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise FieldError(where, f"must be a table of fields, got {shown(value)}.")
    return value
