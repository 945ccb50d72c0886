"""Every planted fault is caught by the property tests.

Each fault is planted in a copy of the source, on which the property tests then run in a process
of their own. To run all of them:  pytest -m slow tests/validation/test_planted_faults.py
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
# The quick ones first: the run ends at the first failure.
PROPERTY_TESTS = ("test_adversaries.py", "test_theorems.py", "test_worst_case.py")
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


def _run_property_tests(source):
    environment = dict(os.environ, PYTHONPATH=str(source), PYTHONDONTWRITEBYTECODE="1")
    tests = [str(ROOT / "tests" / "validation" / name) for name in PROPERTY_TESTS]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_there_are_at_least_twenty_different_faults():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20


def test_every_fault_changes_something():
    assert all(fault.right != fault.wrong for fault in FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(fault, tmp_path):
    _plant(fault, tmp_path)

    run = _run_property_tests(tmp_path)

    assert run.returncode == TESTS_FAILED, run.stdout[-3000:] + run.stderr[-2000:]
