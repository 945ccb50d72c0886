"""Large schedules and many workers: seconds, rows a second, memory, bytes on disk.

    python benchmarks/scale.py [--rows 10000000] [--workers 100000] [--json FILE]

Simulates, writes, loads, checks and measures one long schedule of an asynchronous server, and
executes one with 10,000 workers and 10,000 parameters. Seconds are of the processor and depend
on the machine; rows a second are what the targets speak of.
"""

import argparse
import json
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pipeline_speed import STEP_SIZE, seconds_of

from elastic_consistency.execution import Execution
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.started_gaps import started_gaps
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

ROWS_A_JOB = 6


class Report:
    """Prints each figure as it comes and keeps it."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}

    def note(self, name: str, value: float) -> None:
        """Keep one figure."""
        self.figures[name] = value
        print(f"{name:>42} {value:>14,.3f}", flush=True)

    def time(self, name: str, rows: int, task: Callable[[], Any]) -> Any:
        """Run a task; keep its seconds and, if rows are given, rows a second."""
        kept: list[Any] = []
        seconds = seconds_of(lambda: kept.append(task()))
        self.note(f"{name}, s", seconds)
        if rows:
            self.note(f"{name}, million rows/s", rows / seconds / 1e6)
        return kept[0]


def timed(workers: int, jobs: int) -> Schedule:
    """An asynchronous server with equal workers."""
    cluster = Cluster.alike(workers, Exponential(1.0))
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=0)


def long_schedule(report: Report, workers: int, rows: int) -> None:
    """Simulate, measure, check, write and load one schedule."""
    schedule = report.time("simulate", 0, lambda: timed(workers, rows // ROWS_A_JOB))
    count = len(schedule.rows)
    report.note("rows", count)
    report.time("staleness", count, schedule.staleness)
    gaps = report.time("exact B of every view", count, lambda: started_gaps(schedule))
    report.note("B started, aligned", float(gaps.aligned.max()))
    report.note("B started, noise", float(gaps.noise.max()))
    report.time("check", count, schedule.check)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.parquet"
        report.time("save", count, lambda: schedule.save(path))
        report.note("disk, bytes/row", path.stat().st_size / count)
        loaded = report.time("load", count, lambda: Schedule.load(path))
    assert loaded.digest() == schedule.digest()


def many_workers(report: Report, workers: int = 10_000, d: int = 10_000) -> None:
    """Execute a schedule in which every worker holds its own version of the model."""
    schedule = timed(workers, 2 * workers)
    oracle = Quadratic(np.linspace(0.1, 1.0, d))
    probes = (AppliedSequence(every=10**9),)
    # A step size that suits a staleness of 10,000.
    execution = Execution(schedule, oracle, SGD(STEP_SIZE / workers), seeds=(0,), probes=probes)
    plan = execution.memory_plan
    assert plan is not None
    report.note(f"planned memory of {workers:,} workers, GB", plan.predicted_bytes / 1e9)
    report.time(f"execute {len(schedule.jobs):,} jobs", 0, lambda: list(execution.chunks()))
    report.note("B applied", execution.measurement()["gap_applied"].peak)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    report.note("peak of the whole process, GB", peak)


def main() -> None:
    """Print the figures; write them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the long schedule")
    parser.add_argument("--workers", type=int, default=100_000, help="its workers")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    report = Report()
    many_workers(report)
    long_schedule(report, options.workers, options.rows)
    if options.json:
        options.json.write_text(json.dumps(report.figures, indent=2))


if __name__ == "__main__":
    main()
