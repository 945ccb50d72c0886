"""One more rule, codec, oracle, delay law or protocol is one file and one import line.

A *catalogue* is a folder whose `base.py` holds an interface. Whatever implements an interface
in such a folder must be importable from the folder itself; a forgotten line is named here.
What needs torch is imported from `torch_oracles` by name, since the folder must load without it.
"""

import inspect
import sys
from types import ModuleType

import pytest

from elastic_consistency.bounds import Bound, list_bounds

CATALOGUES = {
    "elastic_consistency.optimization.compression",
    "elastic_consistency.optimization.oracles",
    "elastic_consistency.optimization.update_rules",
    "elastic_consistency.simulator.delays",
    "elastic_consistency.simulator.protocols",
}

NEEDS_TORCH = "elastic_consistency.optimization.oracles.torch_oracles"


def _interfaces(module: ModuleType) -> tuple[type, ...]:
    """Public abstract classes that `module` defines."""
    return tuple(
        cls
        for name, cls in vars(module).items()
        if name.startswith("Abstract") and cls.__module__ == module.__name__
    )


@pytest.fixture(scope="module")
def catalogues(modules) -> dict[str, tuple[type, ...]]:
    """Interfaces of every catalogue, by the name of its package."""
    bases = [module for module in modules if module.__name__.endswith(".base")]
    found = {base.__name__.removesuffix(".base"): _interfaces(base) for base in bases}
    return {package: interfaces for package, interfaces in found.items() if interfaces}


@pytest.fixture(scope="module")
def entries(modules, catalogues) -> list[tuple[str, type]]:
    """(package, class) of all that implements an interface of its own catalogue."""
    return [
        (package, cls)
        for package, interfaces in catalogues.items()
        for module in modules
        if module.__name__.startswith(f"{package}.")
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
        if issubclass(cls, interfaces) and not cls.__name__.startswith(("_", "Abstract"))
    ]


def test_the_catalogues_are_found(catalogues):
    assert catalogues.keys() >= CATALOGUES


def test_every_entry_is_exported_by_its_catalogue(entries):
    missing = [
        f"{package} lacks: from {cls.__module__} import {cls.__name__} as {cls.__name__}"
        for package, cls in entries
        if not cls.__module__.startswith(NEEDS_TORCH)
        if vars(sys.modules[package]).get(cls.__name__) is not cls
    ]

    assert missing == []


def test_every_entry_is_final_and_complete(entries):
    """A class is either an interface that cannot be made or a final one that can."""
    open_ended = [
        cls.__qualname__
        for _, cls in entries
        if not vars(cls).get("__final__", False) or inspect.isabstract(cls)
    ]

    assert open_ended == []


def test_every_bound_is_in_the_catalogue_of_bounds(modules):
    defined = {
        f"{module.__name__}.{name}": bound
        for module in modules
        for name, bound in vars(module).items()
        if isinstance(bound, Bound)
    }

    known = {id(bound) for bound in list_bounds()}

    assert defined
    assert [name for name, bound in defined.items() if id(bound) not in known] == []
