"""One page for each public package: what it exports, then its modules."""

import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

_NO_MODULES = ("__main__", "_checks")
_MEMBERS = (staticmethod, classmethod, property)


def public_modules(package: str) -> list[ModuleType]:
    """The package and every module below it whose path has no private part, imported."""
    root = importlib.import_module(package)
    found = pkgutil.walk_packages(root.__path__, f"{package}.")
    names = [module.name for module in found]
    public = [name for name in names if not any(p.startswith("_") for p in name.split("."))]
    return [root, *(importlib.import_module(name) for name in public)]


def undocumented(modules: Iterable[ModuleType]) -> list[str]:
    """Public modules, classes, functions and methods without a docstring, own or inherited."""
    return [name for module in modules for name in _silent(module)]


def _silent(module: ModuleType) -> list[str]:
    names = [] if module.__doc__ or _is_empty(module) else [module.__name__]
    for name, value in _own(module).items():
        if not inspect.getdoc(value):
            names.append(f"{module.__name__}.{name}")
        if inspect.isclass(value):
            names += [
                f"{module.__name__}.{name}.{member}"
                for member, found in vars(value).items()
                if not member.startswith("_")
                if inspect.isfunction(found) or isinstance(found, _MEMBERS)
                if not inspect.getdoc(getattr(value, member))
            ]
    return names


def _own(module: ModuleType) -> dict[str, object]:
    """Public classes and functions that the module defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isroutine(value))
        if getattr(value, "__module__", None) == module.__name__
    }


def _is_empty(module: ModuleType) -> bool:
    return not Path(module.__file__ or "").read_text("utf-8").strip()


def pages(modules: Iterable[ModuleType]) -> dict[str, str]:
    """Text of each page by its file name; a page holds a package and the modules in it."""
    by_package: dict[str, list[ModuleType]] = defaultdict(list)
    packages = {}
    for module in modules:
        if hasattr(module, "__path__"):
            packages[module.__name__] = module
        else:
            by_package[module.__name__.rpartition(".")[0]].append(module)
    return {
        f"{name}.rst": _page(package, by_package[name])
        for name, package in packages.items()
        if package.__doc__ or by_package[name]
    }


def _page(package: ModuleType, modules: list[ModuleType]) -> str:
    parts = [_heading(package.__name__, "="), f".. automodule:: {package.__name__}"]
    exports = _exports(package)
    if exports:
        parts += ["**Import from here:**", "\n".join(exports)]
    for module in modules:
        parts += [
            _heading(module.__name__.rpartition(".")[2], "-"),
            f".. automodule:: {module.__name__}",
        ]
    return "\n\n".join(parts) + "\n"


def _heading(text: str, underline: str) -> str:
    return f"{text}\n{underline * len(text)}"


def _exports(package: ModuleType) -> list[str]:
    """Names that the package gives and one of its modules defines, each with its place."""
    return [
        f"- :py:obj:`{name} <{value.__module__}.{value.__qualname__}>`"
        for name, value in sorted(vars(package).items())
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isroutine(value))
        if value.__module__ != package.__name__
        if value.__module__.startswith("elastic_consistency.")
    ]
