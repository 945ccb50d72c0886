"""Every planted fault is caught by the property tests.

Each fault is planted in a copy of the source, on which the property tests that watch it run in a
process of their own. To run all of them:  pytest -m slow tests/validation/test_planted_faults.py
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "elastic_consistency"
PROPERTY_TESTS = (
    "test_adversaries.py",
    "test_contraction.py",
    "test_expectations.py",
    "test_intervals.py",
    "test_judge.py",
    "test_paired.py",
    "test_slack.py",
    "test_strategies.py",
    "test_theorems.py",
    "test_worst_case.py",
)
# Whether a fault is caught does not depend on how small the counterexample gets.
NO_SHRINKING = """
from hypothesis import Phase, settings

settings.register_profile(
    "no_shrinking", derandomize=True, deadline=None, database=None, max_examples=60,
    phases=(Phase.explicit, Phase.generate, Phase.target),
)
"""
TESTS_FAILED = 1  # of pytest; an import that fails would give another code


def _faults():
    spec = importlib.util.spec_from_file_location(
        "planted_faults", Path(__file__).with_name("planted_faults.py")
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_faults"] = module
    spec.loader.exec_module(module)
    return module.FAULTS


FAULTS = _faults()


def _plant(fault, folder):
    """A copy of the package with the fault in it."""
    copy = folder / "elastic_consistency"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file = copy / fault.file
    text = file.read_text(encoding="utf-8")
    assert text.count(fault.right) == 1, f"{fault.file} has changed: plant {fault.name!r} anew"
    file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")


def _run_property_tests(source, named):
    (source / "no_shrinking.py").write_text(NO_SHRINKING, encoding="utf-8")
    environment = dict(
        os.environ,
        PYTHONPATH=str(source),
        PYTHONDONTWRITEBYTECODE="1",
        ELASTIC_HYPOTHESIS_PROFILE="no_shrinking",
    )
    tests = [str(ROOT / "tests" / "validation" / name) for name in PROPERTY_TESTS]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no_shrinking", "-k", named]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_there_are_at_least_twenty_different_faults():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20


def test_every_fault_changes_something():
    assert all(fault.right != fault.wrong for fault in FAULTS)


def test_the_page_lists_every_fault():
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    rows = [
        f"| {number} | `{fault.file}` | {fault.name} | `{fault.caught_by}` |"
        for number, fault in enumerate(FAULTS, 1)
    ]

    assert "\n".join(rows) in page


@pytest.mark.slow
def test_without_a_fault_the_property_tests_pass(tmp_path):
    """Else they would catch anything."""
    shutil.copytree(PACKAGE, tmp_path / "elastic_consistency")

    run = _run_property_tests(tmp_path, " or ".join({fault.caught_by for fault in FAULTS}))

    assert run.returncode == 0, run.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(fault, tmp_path):
    _plant(fault, tmp_path)

    run = _run_property_tests(tmp_path, fault.caught_by)

    assert run.returncode == TESTS_FAILED, run.stdout[-3000:] + run.stderr[-2000:]
