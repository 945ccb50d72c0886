"""Time of `import elastic_consistency` and of `elastic --help`, beside bare Python.

    python benchmarks/startup_time.py [--json FILE]

Whole processes, alternating in one run; medians, with the smallest and largest.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 9
COMMANDS = {
    "bare python": [sys.executable, "-c", "pass"],
    "import elastic_consistency": [sys.executable, "-c", "import elastic_consistency"],
    "elastic --help": [sys.executable, "-m", "elastic_consistency", "--help"],
}


def seconds_of(command: list[str]) -> float:
    """Wall-clock time of one process, s."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    for command in COMMANDS.values():
        seconds_of(command)
    found = [[seconds_of(command) for command in COMMANDS.values()] for _ in range(RUNS)]
    rows = []
    print(f"{'process':<28} {'median s (min, max)':>26} {'times bare python':>18}")
    for k, name in enumerate(COMMANDS):
        seconds = [run[k] for run in found]
        ratio = statistics.median(run[k] / run[0] for run in found)
        median = statistics.median(seconds)
        rows.append({"process": name, "median_s": median, "ratio_to_bare_python": ratio})
        spread = f"{median:.3f} ({min(seconds):.3f}, {max(seconds):.3f})"
        print(f"{name:<28} {spread:>26} {ratio:>18.1f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
