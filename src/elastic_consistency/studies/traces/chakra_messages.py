"""Nodes of Chakra execution traces as protocol buffers, and as the JSON that is made of those.

Only what a step time needs is decoded: name, type, duration and whether the CPU did it. Field
numbers are those of the schema's version 0.0.4 (et_def.proto of MLCommons Chakra).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from elastic_consistency.studies.traces.event_stream import json_values
from elastic_consistency.studies.traces.records import TraceError

_LONGEST = 1 << 26  # bytes of a message
_NAME, _TYPE, _DURATION, _ATTRIBUTE = 2, 3, 7, 10
_ATTRIBUTE_NAME, _NUMBERS, _TRUTH = 1, {7, 9, 11, 13}, 27
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # wire types
_TYPES = {"COMM_SEND_NODE": 5, "COMM_RECV_NODE": 6, "COMM_COLL_NODE": 7}
Node = dict[str, Any]


def message_nodes(path: Path) -> Iterator[Node]:
    """Nodes of a file of messages, each after its length; the first one tells about the trace.

    Raises:
        TraceError: If the file is cut or no such file, with the byte.
    """
    with path.open("rb") as file:
        first = True
        while (message := _message(path, file)) is not None:
            if not first:
                yield message
            first = False


def json_nodes(path: Path) -> Iterator[Node]:
    """Nodes of the JSON that `chakra_jsonizer` writes: one object a message, one after the other.

    Raises:
        TraceError: If the file ends early or is not JSON, with the place.
    """
    for k, message in enumerate(json_values(path)):
        if k:
            yield _of_json(message)


def _of_json(message: Any) -> Node:
    found = message if isinstance(message, dict) else {}
    duration = found.get("durationMicros", found.get("duration_micros"))
    given = found.get("attr")
    attributes = [a for a in given if isinstance(a, dict)] if isinstance(given, list) else []
    on_cpu = next((a for a in attributes if a.get("name") == "is_cpu_op"), {})
    # Whole numbers of 64 bits are texts in this JSON, and others are numbers.
    values = [value not in (0, "0") for name, value in on_cpu.items() if name.endswith("Val")]
    digits = str(duration)
    return {
        "Name": found.get("name", ""),
        "NodeType": _TYPES.get(str(found.get("type")), 0),
        "runtime": float(digits) if digits.isdecimal() else None,
        "is_cpu_op": values[0] if values else True,
    }


def _message(path: Path, file: IO[bytes]) -> Node | None:
    start = file.tell()
    try:
        length = _length(file)
        if length is None:
            return None
        content = file.read(length) if length <= _LONGEST else b""
        if len(content) < length:
            raise IndexError
        return _node(content)
    except (IndexError, ValueError) as error:
        raise TraceError(
            f"{path}: is damaged or no Chakra trace: the message at byte {start} is none."
        ) from error


def _length(file: IO[bytes]) -> int | None:
    prefix = b""
    while not prefix or prefix[-1] & 0x80:
        byte = file.read(1)
        if not byte and not prefix:
            return None
        prefix += byte
        if not byte or len(prefix) > 5:
            raise IndexError
    return _varint(prefix, 0)[0]


def _node(content: bytes) -> Node:
    node: Node = {"Name": "", "NodeType": 0, "runtime": None, "is_cpu_op": True}
    for number, value in _fields(content):
        if number == _NAME and isinstance(value, bytes):
            node["Name"] = value.decode("utf-8", errors="replace")
        elif number == _TYPE:
            node["NodeType"] = value
        elif number == _DURATION:
            node["runtime"] = value
        elif number == _ATTRIBUTE and isinstance(value, bytes):
            fields = dict(_fields(value))
            if fields.get(_ATTRIBUTE_NAME) == b"is_cpu_op":
                # A value of 0 may be left out of a message.
                node["is_cpu_op"] = any(fields.get(n) for n in (*_NUMBERS, _TRUTH))
    return node


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(content, place)
            yield number, value
            continue
        if kind not in (_EIGHT, _BYTES, _FOUR) or number == 0:
            raise ValueError(kind)
        size = {_EIGHT: 8, _FOUR: 4}.get(kind)
        if size is None:
            size, place = _varint(content, place)
        if place + size > len(content):
            raise IndexError
        yield number, content[place : place + size]
        place += size


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value, place, shift = value | (byte & 0x7F) << shift, place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError(shift)
