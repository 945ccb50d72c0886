"""What a record depends on: the source files that its experiment can reach, and versions."""

import ast
import hashlib
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
_LIBRARIES = ("numpy", "scipy", "simpy", "sympy", "numba", "scikit-learn", "mlxtend", "torch")


def reachable(source: Path, package: Path = PACKAGE) -> frozenset[Path]:
    """Modules of `package` that `source` imports, directly or not, and itself.

    Imports inside functions count, and so do the files of a folder without code that lies beside
    a module, such as layer profiles.

    Args:
        source: Where to begin; need not be in the package.
        package: Folder of the package; its name is the package's.
    """
    found, waiting = set[Path](), [source]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path, package)
    folders = {path.parent for path in found if path.is_relative_to(package)}
    return frozenset(found.union(*map(_data, folders)))


@cache
def digest(source: Path, package: Path = PACKAGE) -> str:
    """Digest of all that `source` reaches, as it was when it was asked for first, and versions.

    Whoever edits a file during a run changes nothing of what was loaded, and so not the digest.
    """
    told = hashlib.sha256("\n".join(_versions()).encode())
    for path in sorted(reachable(source, package)):
        told.update(path.name.encode() + path.read_bytes())
    return told.hexdigest()[:16]


@cache
def _imported(path: Path, package: Path) -> tuple[Path, ...]:
    names = _names(ast.parse(path.read_bytes()))
    within = (name.split(".") for name in names if name.split(".")[0] == package.name)
    return tuple(_modules(package.parent.joinpath(*parts) for parts in within))


def _names(tree: ast.AST) -> Iterator[str]:
    """Every dotted name that may be a module; `from a import b` may mean a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _modules(stems: Iterable[Path]) -> Iterator[Path]:
    for stem in stems:
        for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
            if path.is_file():
                yield path


def _data(folder: Path) -> set[Path]:
    """Files of folders below `folder` that hold no code."""
    below = (path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__")
    return {path for part in below if not any(part.glob("*.py")) for path in part.glob("*.*")}


def _versions() -> Iterator[str]:
    yield platform.python_version()
    for name in _LIBRARIES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} absent"
