"""Every public name says what it is."""

import ast
import inspect

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_METHODS = (staticmethod, classmethod, property)


def _is_public_module(path: str) -> bool:
    """Whether no part of the module's path is private; `__init__` is public."""
    parts = path.removesuffix("/__init__.py").removesuffix(".py").split("/")
    return not any(part.startswith("_") for part in parts)


def test_every_module_with_content_has_a_docstring(package_trees):
    silent = [path for path, tree in package_trees.items() if tree.body and not _doc(tree)]

    assert silent == []


def test_every_public_class_and_function_has_a_docstring(package_trees):
    silent = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in package_trees.items()
        if _is_public_module(path)
        for node in tree.body
        if isinstance(node, _DEFINITIONS) and not node.name.startswith("_") and not _doc(node)
    ]

    assert silent == []


def test_every_public_method_has_a_docstring_or_inherits_one(modules):
    silent = [
        f"{owner.__module__}.{owner.__qualname__}.{name}"
        for module in modules
        for owner in vars(module).values()
        if inspect.isclass(owner) and owner.__module__ == module.__name__
        if not owner.__name__.startswith("_")
        for name, member in vars(owner).items()
        if not name.startswith("_")
        if inspect.isfunction(member) or isinstance(member, _METHODS)
        if not inspect.getdoc(getattr(owner, name))
    ]

    assert silent == []


def test_every_exported_name_exists(modules):
    missing = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in getattr(module, "__all__", ())
        if name not in dir(module)
    ]

    assert missing == []


def _doc(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    return ast.get_docstring(node)
