"""Cost of an update of the asynchronous server, beside a bare heap loop.

The bare loop does nothing but what the schedule needs: it pops the next arrival, notes the
exchange, draws a delay and pushes. Both draw the same delays from the same streams, and the
two schedules are compared by digest before anything is timed. Runs are paired and alternate,
so that a machine that slows down meanwhile slows both.

    python benchmarks/simulator_speed.py [--jobs 200000] [--pairs 5] [--json FILE]
"""

import argparse
import heapq
import json
import statistics
import sys
import time
from pathlib import Path

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import Metadata, Schedule
from elastic_consistency.simulator import Cluster, Payload, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.simulator.protocols import asynchronous_server as server
from elastic_consistency.simulator.row_patterns import PatternLog
from elastic_consistency.simulator.simulation import Simulation

WORKERS = (10, 100, 1000, 10_000)
SEED = 1
LAW = Exponential(1.0)


def metadata(n_workers: int) -> Metadata:
    """Of both runs."""
    return Metadata(n_workers=n_workers, hosts=(-1,), seed=SEED)


def bare_loop(n_workers: int, n_jobs: int) -> PatternLog:
    """The timing of the server as a loop around a heap."""
    log = PatternLog(server._PATTERNS, n_operands=2, metadata=metadata(n_workers))
    note, new_job = log.note, log.job
    push, pop, replace = heapq.heappush, heapq.heappop, heapq.heapreplace
    draws = [independent_draws(LAW, SEED, Cause.COMPUTE, w) for w in range(n_workers)]
    heap: list[tuple[float, int, int, int]] = []
    for worker, draw in enumerate(draws):
        job = new_job(worker, 0.0)
        push(heap, (draw(0.0), job, worker, job))
        note((0.0, server._FIRST, -1, job))
    for event in range(n_workers, n_jobs):
        now, _, worker, done = heap[0]
        job = new_job(worker, now)
        replace(heap, (now + draws[worker](now), event, worker, job))
        note((now, server._COMPUTED_EXCHANGE, done, job))
    while heap:
        now, _, worker, done = pop(heap)
        note((now, server._COMPUTED_LAST, done, -1))
    return log


def engine(n_workers: int, n_jobs: int) -> Simulation:
    """The timing phase of simulate(), without making the columns of the schedule."""
    cluster = Cluster.alike(n_workers, LAW)
    simulation = Simulation(cluster, Until(jobs=n_jobs), Payload(), metadata(n_workers))
    AsynchronousServer().start(simulation)
    simulation.env.run()
    return simulation


def whole(n_workers: int, n_jobs: int) -> Schedule:
    """simulate() itself."""
    cluster = Cluster.alike(n_workers, LAW)
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=n_jobs), seed=SEED)


def seconds(run, *arguments) -> float:
    """Processor seconds of one call."""
    begin = time.process_time()
    run(*arguments)
    return time.process_time() - begin


def compare(n_workers: int, n_jobs: int, n_pairs: int) -> dict[str, float]:
    """Microseconds an update, and the speed of the engine as a share of the bare loop's."""
    digests = {
        bare_loop(n_workers, n_jobs).finish().digest(),
        engine(n_workers, n_jobs).finish().digest(),
        whole(n_workers, n_jobs).digest(),
    }
    if len(digests) != 1:
        sys.exit(f"The schedules of {n_workers} workers differ.")
    pairs = [
        [seconds(run, n_workers, n_jobs) for run in (bare_loop, engine, whole)]
        for _ in range(n_pairs)
    ]
    bare, timing, total = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = sorted(pair[0] / pair[1] for pair in pairs)
    return {
        "n_workers": n_workers,
        "bare_us": 1e6 * bare / n_jobs,
        "engine_us": 1e6 * timing / n_jobs,
        "simulate_us": 1e6 * total / n_jobs,
        "ratio": statistics.median(ratios),
        "ratio_least": ratios[0],
        "ratio_most": ratios[-1],
    }


def main() -> None:
    """Print the table and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"{'workers':>8} {'bare µs':>8} {'engine µs':>10} {'simulate µs':>12} {'ratio':>18}")
    results = []
    for n_workers in WORKERS:
        row = compare(n_workers, options.jobs, options.pairs)
        results.append(row)
        spread = f"{row['ratio']:.2f} ({row['ratio_least']:.2f}-{row['ratio_most']:.2f})"
        print(f"{n_workers:>8} {row['bare_us']:>8.2f} {row['engine_us']:>10.2f} "
              f"{row['simulate_us']:>12.2f} {spread:>18}")  # fmt: skip
    if options.json:
        table = {"jobs": options.jobs, "pairs": options.pairs, "results": results}
        options.json.write_text(json.dumps(table, indent=2) + "\n")


if __name__ == "__main__":
    main()
