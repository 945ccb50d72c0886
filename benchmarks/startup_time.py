"""Time of `import elastic_consistency` and of `elastic --help`, beside bare Python.

    python benchmarks/startup_time.py [--json FILE]

Whole processes, alternating in one run; processor time, so that other load counts little.
"""

import resource
import subprocess
import sys
from collections.abc import Iterator

from figures import Figure, ratios, report

RUNS = 9
COMMANDS = (
    [sys.executable, "-c", "pass"],
    [sys.executable, "-c", "import elastic_consistency"],
    [sys.executable, "-m", "elastic_consistency", "--help"],
)


def seconds_of(command: list[str]) -> float:
    """Processor time of one process, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> Iterator[Figure]:
    """All commands."""
    for command in COMMANDS:
        seconds_of(command)
    found = [[seconds_of(command) for command in COMMANDS] for _ in range(RUNS)]
    bare, imported, helped = zip(*found, strict=True)
    yield Figure("bare Python, s", bare)
    yield Figure("import elastic_consistency, s", imported, "≤ 0.25")
    yield Figure("elastic --help / bare Python", ratios(helped, bare), "≤ 6")


if __name__ == "__main__":
    report(measure, __doc__)
