"""Every benchmark, one after the other: one table, and one JSON with date and machine.

    python benchmarks/all.py [FOLDER]

Each script writes FOLDER/NAME.json (build/benchmarks by default); FOLDER/all.json joins them.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SCRIPTS = (
    "startup_time",
    "simulator_speed",
    "simulator_gossip_speed",
    "pipeline_speed",
    "naive_speed",
    "replicates_speed",
    "executor_memory",
    "replay_speed",
    "growth",
    "scale",
)


def main() -> int:
    """Run all of them; returns how many failed."""
    here = Path(__file__).parent
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    failed, figures = 0, {}
    for name in SCRIPTS:
        print(f"== {name}", flush=True)
        results = folder / f"{name}.json"
        command = [sys.executable, str(here / f"{name}.py"), "--json", str(results)]
        if subprocess.run(command, check=False, env=os.environ | ONE_THREAD).returncode:
            failed += 1
            continue
        figures[name] = json.loads(results.read_text())
    told = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": [platform.machine(), f"{os.cpu_count()} cores", platform.python_version()],
        "load": os.getloadavg(),
        "figures": figures,
    }
    (folder / "all.json").write_text(json.dumps(told, indent=2) + "\n")
    print(f"{folder / 'all.json'}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
