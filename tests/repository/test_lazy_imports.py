"""What is heavy is imported when it is needed, in a process of its own to prove it."""

import json
import subprocess
import sys

import pytest

HEAVY = ("matplotlib", "pandas", "scipy.stats", "sympy", "torch")

_REPORT = """
import json, sys
code = 0
try:
    {statement}
except SystemExit as stop:
    code = stop.code or 0
loaded = [name for name in {heavy!r} if name in sys.modules]
print(json.dumps({{"code": code, "loaded": loaded}}))
"""


def _run(statement: str) -> dict:
    """Exit code of `statement` in a new process and which heavy modules it loaded."""
    script = _REPORT.format(statement=statement, heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_importing_the_package_loads_nothing_heavy():
    assert _run("import elastic_consistency") == {"code": 0, "loaded": []}


def test_help_of_the_command_line_loads_nothing_heavy():
    statement = (
        "sys.argv = ['elastic', '--help']; "
        "from elastic_consistency.cli import main; "
        "raise SystemExit(main())"
    )

    assert _run(statement) == {"code": 0, "loaded": []}


@pytest.mark.parametrize("part", ["schedule", "optimization", "execution", "simulator"])
def test_the_numpy_side_works_without_torch(part):
    assert "torch" not in _run(f"import elastic_consistency.{part}")["loaded"]


def test_a_heavy_import_is_noticed():
    assert _run("import scipy.stats")["loaded"] == ["scipy.stats"]
