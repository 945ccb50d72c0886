"""The repository as data: where it is, its syntax trees, its imported modules."""

import ast
import importlib
import pkgutil
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import elastic_consistency

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """Contents of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def sources() -> dict[str, str]:
    """Text of every Python file of the project, by its path from the root."""
    folders = ("src", "tests", "benchmarks", "docs")
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


@pytest.fixture(scope="session")
def trees(sources) -> dict[str, ast.Module]:
    """Syntax tree of every Python file of the project, by its path from the root."""
    return {path: ast.parse(text, path) for path, text in sources.items()}


@pytest.fixture(scope="session")
def package_trees(trees) -> dict[str, ast.Module]:
    """Syntax trees of the package alone."""
    return {path: tree for path, tree in trees.items() if path.startswith("src/")}


@pytest.fixture(scope="session")
def modules() -> list[ModuleType]:
    """Every module of the package, imported."""
    found = pkgutil.walk_packages(elastic_consistency.__path__, "elastic_consistency.")
    names = [module.name for module in found if not module.name.endswith(".__main__")]
    return [elastic_consistency, *(importlib.import_module(name) for name in names)]
