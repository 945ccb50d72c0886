"""A record holds as long as nothing that its experiment reaches has changed."""

import inspect
import shutil
from pathlib import Path

import pytest

from elastic_consistency.validation.papers import records, sources
from elastic_consistency.validation.papers.catalogue import find
from elastic_consistency.validation.papers.claim import Effort
from elastic_consistency.validation.papers.sources import PACKAGE, digest, reachable

RESIDUALS = Path("validation/papers/sparsified/residuals.py")


def _fresh_digest(copy):
    sources._imported.cache_clear()
    digest.cache_clear()
    return digest(copy / RESIDUALS, copy)


@pytest.fixture
def copy(tmp_path):
    """The whole package, free to be edited."""
    pattern = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=pattern)


@pytest.mark.parametrize(
    ("module", "matters"),
    [
        ("optimization/compression/top_k.py", True),  # two imports away
        ("validation/papers/small_problems.py", True),
        ("random_streams/uniforms.py", True),
        ("validation/papers/energy_matching/figures.py", False),
        ("cli/papers.py", False),
    ],
)
def test_a_change_in_a_shared_module_changes_the_digest_of_those_that_reach_it(
    copy, module, matters
):
    before = _fresh_digest(copy)

    with (copy / module).open("a") as file:
        file.write("\nCHANGED = True\n")

    assert (_fresh_digest(copy) != before) is matters


def test_layer_profiles_count_as_sources():
    experiment = find("norm-bounded").experiment

    found = reachable(Path(inspect.getfile(experiment)))

    assert PACKAGE / "simulator/profiles/resnet18_cifar10_32.csv" in found


def test_imports_inside_functions_and_of_whole_packages_are_followed(tmp_path):
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "inner/__init__.py").write_text("from package.inner.deep import x as x\n")
    (package / "inner/deep.py").write_text("x = 1\n")
    (package / "late.py").write_text("")
    (package / "other.py").write_text("")
    begin = package / "begin.py"
    begin.write_text("import package.inner\ndef f():\n    from package import late\n")

    found = {path.relative_to(package).as_posix() for path in reachable(begin, package)}

    assert found == {"begin.py", "inner/__init__.py", "inner/deep.py", "late.py"}


def test_another_version_of_a_library_changes_the_digest(copy, monkeypatch):
    before = _fresh_digest(copy)

    monkeypatch.setattr(sources, "version", lambda name: "0.0")

    assert _fresh_digest(copy) != before


def test_the_key_of_a_record_rests_on_the_digest(monkeypatch):
    claim = find("top-k-condition")
    before = records.key_of(claim, Effort())

    monkeypatch.setattr(records, "digest", lambda _source: "other code")

    assert records.key_of(claim, Effort()) != before
