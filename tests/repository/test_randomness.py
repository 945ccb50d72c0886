"""Nothing random happens without an explicit seed."""

import ast

import pytest

ALLOWED = {"BitGenerator", "Generator", "Philox", "SeedSequence", "PCG64", "default_rng"}


def _offences(tree: ast.Module) -> list[str]:
    """Uses of a generator that nobody seeded, as 'line: what'."""
    return [
        f"{node.lineno}: {offence}"
        for node in ast.walk(tree)
        if (offence := _import(node) or _attribute(node) or _call(node))
    ]


def _import(node: ast.AST) -> str | None:
    if isinstance(node, ast.Import) and any(name.name == "random" for name in node.names):
        return "import random"
    if isinstance(node, ast.ImportFrom) and node.module == "random":
        return "from random import"
    if isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
        return next((f"numpy.random.{n.name}" for n in node.names if n.name not in ALLOWED), None)
    return None


def _attribute(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Attribute) or node.attr in ALLOWED:
        return None
    owner = ast.unparse(node.value)
    return f"{owner}.{node.attr}" if owner in {"np.random", "numpy.random"} else None


def _call(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return None
    owner, _, name = ast.unparse(node.func).rpartition(".")
    return f"{name}()" if owner in {"", "np.random", "numpy.random"} and name in ALLOWED else None


def test_no_random_number_comes_from_an_unseeded_generator(trees):
    offences = {path: found for path, tree in trees.items() if (found := _offences(tree))}

    assert offences == {}


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from random import shuffle",
        "from numpy.random import normal",
        "np.random.normal(0, 1)",
        "np.random.seed(3)",
        "np.random.default_rng()",
        "default_rng()",
    ],
)
def test_an_unseeded_generator_is_recognised(code):
    assert _offences(ast.parse(code)) != []


@pytest.mark.parametrize(
    "code",
    [
        "np.random.default_rng(3)",
        "np.random.Philox(key=k)",
        "torch.Generator().manual_seed(3)",
        "random_streams.draw()",
    ],
)
def test_a_seeded_generator_is_allowed(code):
    assert _offences(ast.parse(code)) == []
