"""Peak memory of an execution, against its plan and against the number of updates.

    python benchmarks/executor_memory.py [--json FILE]

Allocations of the execution are traced; the schedule itself is made before. The plan is known
before the first row: arrays alive at a time, and a base that does not grow. The peak must stay
below 1.05 times the live arrays plus the base, and flat in the number of updates.
"""

import argparse
import json
import tracemalloc
from pathlib import Path

import numpy as np

from elastic_consistency.execution import Engine, Execution
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

PARAMETERS, WORKERS, SEED = 100_000, 8, 0
UPDATES = (200, 400, 800, 1600, 3200)
ENGINES = (Engine.ROWS, Engine.PROGRAM)


def peak(jobs: int, engine: Engine) -> dict[str, float]:
    """Peak memory of one execution and what was planned, in models of PARAMETERS float64."""
    oracle = Quadratic(np.linspace(0.1, 1.0, PARAMETERS))
    cluster = Cluster.alike(WORKERS, Exponential(1.0))
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=SEED)
    tracemalloc.start()
    probes = (AppliedSequence(every=10**9),)
    execution = Execution(schedule, oracle, SGD(0.01), seeds=(SEED,), probes=probes, engine=engine)
    for _ in execution.chunks():
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    plan, model = execution.memory_plan, 8 * PARAMETERS
    figures = {"engine": engine.name, "updates": jobs, "peak_models": most / model}
    if plan is None:
        return figures
    limit = 1.05 * plan.live * plan.array_bytes + plan.base * plan.array_bytes + plan.table_bytes
    return figures | {
        "live": plan.live,
        "planned_models": plan.predicted_bytes / model,
        "within_limit": most <= limit,
    }


def main() -> None:
    """Print the table; write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rows = [peak(jobs, engine) for engine in ENGINES for jobs in UPDATES]
    print(f"{WORKERS} workers, {PARAMETERS} parameters; memory in models")
    print(f"{'engine':>8} {'updates':>8} {'peak':>6} {'planned':>8} {'live':>5} {'within':>7}")
    for row in rows:
        planned = f"{row['planned_models']:.2f}" if "live" in row else "-"
        print(f"{row['engine']:>8} {row['updates']:>8} {row['peak_models']:>6.2f} {planned:>8} "
              f"{row.get('live', '-'):>5} {row.get('within_limit', '-')!s:>7}")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
