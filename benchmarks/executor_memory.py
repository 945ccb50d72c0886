"""Peak memory of an execution against the number of updates: it must stay flat.

    python benchmarks/executor_memory.py [--json FILE]

Allocations of the execution are traced; the schedule itself is made before. With n workers at
most n + 1 versions of the model are alive, beside n gradients and what one update needs.
"""

import argparse
import json
import tracemalloc
from pathlib import Path

import numpy as np

from elastic_consistency.execution import execute
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

PARAMETERS, WORKERS, SEED = 100_000, 8, 0
UPDATES = (200, 400, 800, 1600, 3200)


def peak_models(jobs: int) -> float:
    """Peak memory of one execution, in models of PARAMETERS float64."""
    oracle = Quadratic(np.linspace(0.1, 1.0, PARAMETERS))
    cluster = Cluster.alike(WORKERS, Exponential(1.0))
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=SEED)
    tracemalloc.start()
    execute(schedule, oracle, SGD(0.01), seeds=(SEED,))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / (8 * PARAMETERS)


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rows = [{"updates": jobs, "peak_models": peak_models(jobs)} for jobs in UPDATES]
    print(f"{WORKERS} workers, {PARAMETERS} parameters")
    print(f"{'updates':>8} {'peak memory, models':>20}")
    for row in rows:
        print(f"{row['updates']:>8} {row['peak_models']:>20.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
