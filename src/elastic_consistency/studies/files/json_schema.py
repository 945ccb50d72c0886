"""The JSON schema of study files, for editors, with every class that a file can name."""

import types
from enum import Enum
from typing import Any, Union, get_args, get_origin

from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.simulator import Clock, FaultScript, Link, PeerLink, SharedHost, Worker
from elastic_consistency.simulator.protocols import AbstractProtocol
from elastic_consistency.studies.files.building import must_be_given
from elastic_consistency.studies.files.kinds import field_types, file_fields, kind_name, kinds
from elastic_consistency.studies.files.layout import StudyTable
from elastic_consistency.studies.files.problem_tables import problem_schema

_PLAIN = {float: "number", int: "integer", bool: "boolean", str: "string"}
Schema = dict[str, Any]


def study_schema() -> Schema:
    """Draft 2020-12 schema of a study file."""
    schema = StudyTable.model_json_schema()
    tables = schema["$defs"]
    contender = tables["ContenderTable"]["properties"]
    contender["protocol"] = _of_type(AbstractProtocol)
    contender["rule"] = _of_type(AbstractRule, without=("step_size",))
    contender["codec"] = _of_type(AbstractCodec)
    link = _of_type(Link)
    named = {"anyOf": [{"type": "string"}, link]}
    worker = tables["WorkerTable"]["properties"]
    worker["compute"] = _of_type(Worker.__annotations__["compute"])
    worker |= dict.fromkeys(("link", "uplink", "downlink"), named)
    worker["clock"] = _of_type(Clock)
    cluster = tables["ClusterTable"]["properties"]
    cluster |= {
        "fabric": named,
        "exceptions": _of_type(tuple[PeerLink, ...]),
        "shared_hosts": _of_type(tuple[SharedHost, ...]),
        "faults": _of_type(FaultScript),
    }
    schema["properties"]["problem"] = problem_schema()
    schema["properties"]["links"] = {"type": "object", "additionalProperties": link}
    return schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def _of_type(wanted: Any, *, tagged: bool = False, without: tuple[str, ...] = ()) -> Schema:
    """Schema of a type; `tagged` where only the field `kind` tells one class from another."""
    if get_origin(wanted) in (Union, types.UnionType):
        parts = [part for part in get_args(wanted) if part is not type(None)]
        return _any_of([_of_type(part, tagged=len(parts) > 1) for part in parts])
    if get_origin(wanted) is tuple:
        return {"type": "array", "items": _of_type(get_args(wanted)[0])}
    if wanted in _PLAIN:
        return {"type": _PLAIN[wanted]}
    if issubclass(wanted, Enum):
        return {"enum": [member.name.lower() for member in wanted]}
    if not wanted.__name__.startswith("Abstract"):
        return _of_class(wanted, tagged=tagged)
    return _any_of([_of_class(cls, tagged=True, without=without) for cls in _classes(wanted)])


def _classes(interface: type) -> list[type]:
    return [cls for _, cls in sorted(kinds(interface).items()) if not _contains(cls, interface)]


def _contains(cls: type, interface: type) -> bool:
    """Whether a class wraps another of its own kind; its schema would have no end."""
    return any(wanted is interface for wanted in field_types(cls).values())


def _of_class(cls: type, *, tagged: bool, without: tuple[str, ...] = ()) -> Schema:
    fields = {name: f for name, f in file_fields(cls).items() if name not in without}
    properties = {name: _of_type(field_types(cls)[f.name]) for name, f in fields.items()}
    required = [name for name, field in fields.items() if must_be_given(name, field)]
    if tagged:
        properties = {"kind": {"const": kind_name(cls)}} | properties
        required = ["kind", *required]
    table = {
        "type": "object",
        "title": cls.__name__,
        "description": (cls.__doc__ or "").split("\n")[0],
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    alone = tagged and required == ["kind"]
    return {"anyOf": [{"const": kind_name(cls)}, table]} if alone else table


def _any_of(schemas: list[Schema]) -> Schema:
    flat: list[Schema] = []
    for schema in schemas:
        flat += schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return {"anyOf": flat} if len(flat) != 1 else flat[0]
