"""Which classes a file can name: everything that the package offers, found by itself.

A class `LogNormal` is called log_normal in a file. Classes from elsewhere need the name of
their module, given by the person who runs the file and never by the file.
"""

import re
from dataclasses import Field, fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import isabstract
from typing import Any, get_type_hints

from elastic_consistency.simulator.delays import AbstractDelayLaw, TransientStraggler

_PACKAGE = "elastic_consistency"
_CATALOGUES = (
    "simulator",
    "simulator.protocols",
    "simulator.delays",
    "optimization.update_rules",
    "optimization.compression",
)
# Fields of delay laws that are no seconds; all others carry the suffix _s in files.
_NUMBERS = {"shape", "tail", "log_deviation", "factor"}


def kinds(interface: type, modules: tuple[str, ...] = ()) -> dict[str, type]:
    """Concrete dataclasses that implement `interface`, by their name in files.

    Args:
        interface: An abstract class of the package.
        modules: Names of further modules whose classes may be named.
    """
    for name in (*(f"{_PACKAGE}.{catalogue}" for catalogue in _CATALOGUES), *modules):
        import_module(name)
    allowed = (f"{_PACKAGE}.", *modules)
    return {
        kind_name(cls): cls
        for cls in _descendants(interface)
        if is_dataclass(cls) and not isabstract(cls) and not cls.__name__.startswith("_")
        if f"{cls.__module__}.".startswith(allowed)
    }


def kind_name(cls: type) -> str:
    """The name of a class in files: AsynchronousServer is asynchronous_server."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__)
    return words.lower()


def file_fields(cls: type) -> dict[str, "Field[Any]"]:
    """Fields of a dataclass that a file can give, by their name in the file."""
    return {_file_name(cls, field.name): field for field in fields(cls) if field.init}


@cache
def field_types(cls: type) -> dict[str, Any]:
    """Type of each field of a dataclass."""
    return get_type_hints(cls)


def _file_name(cls: type, name: str) -> str:
    is_law = issubclass(cls, AbstractDelayLaw) and cls is not TransientStraggler
    plain = name == "seconds" or name in _NUMBERS or name.endswith("_s")
    number = field_types(cls)[name] in (float, int)
    return f"{name}_s" if is_law and number and not plain else name


def _descendants(cls: type) -> list[type]:
    children = cls.__subclasses__()
    return [*children, *(deep for child in children for deep in _descendants(child))]
