"""Versions, requirements and pins agree wherever they are written."""

import importlib.metadata
import re

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def version(project) -> str:
    """The version that everything else must repeat."""
    return project["project"]["version"]


@pytest.fixture(scope="module")
def citation(root) -> dict:
    """Contents of CITATION.cff."""
    return yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pins(root) -> dict[str, str]:
    """Pinned version of each package in constraints.txt."""
    text = (root / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: pin for name, _, pin in (line.partition("==") for line in lines)}


def test_the_installed_package_has_the_version_of_the_project(version):
    assert importlib.metadata.version("elastic-consistency") == version


def test_the_newest_entry_of_the_changelog_has_the_version_of_the_project(root, version):
    headings = re.findall(r"^## \[(\d[^]]*)\]", (root / "CHANGELOG.md").read_text("utf-8"), re.M)

    assert headings[0] == version


def test_the_citation_is_complete_and_agrees(project, citation):
    """The required keys of the Citation File Format 1.2.0, and what the project repeats."""
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"]
    assert citation["type"] == "software"
    assert citation["title"] == project["project"]["name"]
    assert str(citation["version"]) == project["project"]["version"]
    assert citation["license"] == project["project"]["license"]
    assert citation["authors"] == project["project"]["authors"]


def test_every_requirement_is_pinned_to_a_version_that_it_allows(project, pins):
    metadata = project["project"]
    extras = metadata["optional-dependencies"].values()
    requirements = [Requirement(r) for group in (metadata["dependencies"], *extras) for r in group]

    unpinned = [
        str(requirement)
        for requirement in requirements
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]

    assert unpinned == []


def test_every_pin_is_canonical_and_exact(pins):
    wrong = [
        name
        for name, pin in pins.items()
        if name != canonicalize_name(name) or not re.fullmatch(r"\d[\w.]*", pin)
    ]

    assert wrong == []
