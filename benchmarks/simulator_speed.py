"""Cost of an update of the asynchronous server, beside a bare heap loop.

The bare loop does nothing but what the schedule needs: it pops the next arrival, notes the
exchange, draws a delay and pushes. Both draw the same delays from the same streams, and the
two schedules are compared by digest before anything is timed. Runs are paired and alternate,
so that a machine that slows down meanwhile slows both.

    python benchmarks/simulator_speed.py [--json FILE]
"""

import heapq
import sys
import tracemalloc
from collections.abc import Iterator
from functools import partial
from math import inf

import simpy
from figures import Figure, alternate, ratios, report

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import Metadata, Schedule
from elastic_consistency.simulator import Cluster, Payload, Until, simulate
from elastic_consistency.simulator.delays import AbstractDelayLaw, Constant, Exponential
from elastic_consistency.simulator.delays.delay_table import DelayTable, draws_ahead
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.simulator.protocols import asynchronous_server as server
from elastic_consistency.simulator.row_patterns import PatternLog
from elastic_consistency.simulator.simulation import Simulation

WORKERS = (10, 100, 1000, 10_000, 100_000)
JOBS, PAIRS = 60_000, 5
SEED = 1
LAW = Exponential(1.0)


def metadata(n_workers: int) -> Metadata:
    """Of both runs."""
    return Metadata(n_workers=n_workers, hosts=(-1,), seed=SEED)


def delays(n_workers: int, n_jobs: int) -> DelayTable:
    """The same for everybody: what is compared is what happens between the draws."""
    ahead = draws_ahead(n_workers, n_jobs)
    return DelayTable([LAW] * n_workers, [1.0] * n_workers, SEED, Cause.COMPUTE, ahead=ahead)


def bare_loop(n_workers: int, n_jobs: int) -> PatternLog:
    """The timing of the server as a loop around a heap."""
    log = PatternLog(server._PATTERNS, n_operands=2, metadata=metadata(n_workers))
    note, new_job = log.note, log.job
    push, pop, replace = heapq.heappush, heapq.heappop, heapq.heapreplace
    draw = delays(n_workers, n_jobs).draw
    heap: list[tuple[float, int, int, int]] = []
    for worker in range(n_workers):
        job = new_job(worker, 0.0)
        push(heap, (draw(worker, 0.0), job, worker, job))
        note((0.0, server._FIRST, -1, job))
    for event in range(n_workers, n_jobs):
        now, _, worker, done = heap[0]
        job = new_job(worker, now)
        replace(heap, (now + draw(worker, now), event, worker, job))
        note((now, server._COMPUTED_EXCHANGE, done, job))
    while heap:
        now, _, worker, done = pop(heap)
        note((now, server._COMPUTED_LAST, done, -1))
    return log


def engine(
    n_workers: int, n_jobs: int, law: AbstractDelayLaw = LAW, *, latest: float = 1e300
) -> Simulation:
    """The timing phase of simulate(), without making the columns of the schedule.

    A limit of time, however late, keeps the pool from running ahead of the events.
    """
    cluster, until = Cluster.alike(n_workers, law), Until(jobs=n_jobs, time_s=latest)
    simulation = Simulation(cluster, until, Payload(), metadata(n_workers))
    AsynchronousServer().start(simulation)
    simulation.env.run()
    return simulation


def pool(n_workers: int, n_jobs: int) -> Simulation:
    """The same with the pool."""
    return engine(n_workers, n_jobs, latest=inf)


def whole(n_workers: int, n_jobs: int) -> Schedule:
    """simulate() itself."""
    cluster = Cluster.alike(n_workers, LAW)
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=n_jobs), seed=SEED)


def store_program(n_workers: int, n_jobs: int) -> None:
    """The usual idiom: a process a worker, a request and an answer through Stores for each job."""
    env = simpy.Environment()
    draw = delays(n_workers, n_jobs).draw
    inbox, answers = simpy.Store(env), [simpy.Store(env) for _ in range(n_workers)]

    def work(worker: int):
        while True:
            yield env.timeout(draw(worker, env.now))
            yield inbox.put(worker)
            yield answers[worker].get()

    def serve(done):
        for _ in range(n_jobs):
            worker = yield inbox.get()
            yield answers[worker].put(None)
        done.succeed()

    done = env.event()
    for worker in range(n_workers):
        env.process(work(worker))
    env.process(serve(done))
    env.run(done)


def bytes_a_worker(few: int = 1000, many: int = 4000) -> float:
    """Memory of the engine that one more worker costs, traced, its drawn delays included."""

    def taken(n_workers: int) -> int:
        cluster = Cluster.alike(n_workers, LAW)
        tracemalloc.start()
        until = Until(jobs=n_workers, time_s=1e300)
        simulation = Simulation(cluster, until, Payload(), metadata(n_workers))
        AsynchronousServer().start(simulation)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return held

    return (taken(many) - taken(few)) / (many - few)


def growth(few: int = 100, many: int = 10_000, jobs_each: int = 60) -> tuple[float, ...]:
    """Cost of a job with many workers over that with few, at equally many jobs each.

    Delays are constant: else it is the draws that are timed, whose blocks are fetched anew for
    each worker and which the bare loop pays for as well.
    """
    tasks = [partial(engine, n, n * jobs_each, Constant(1.0)) for n in (many, few)]
    by_many, by_few = alternate(tasks, PAIRS)
    per_job = [[seconds / few for seconds in by_few], [seconds / many for seconds in by_many]]
    return ratios(per_job[1], per_job[0])


def require_equal(n_workers: int, n_jobs: int) -> None:
    """All schedules have the same digest."""
    digests = {
        bare_loop(n_workers, n_jobs).finish().digest(),
        engine(n_workers, n_jobs).finish().digest(),
        pool(n_workers, n_jobs).finish().digest(),
        whole(n_workers, n_jobs).digest(),
    }
    if len(digests) != 1:
        sys.exit(f"The schedules of {n_workers} workers differ.")


def measure() -> Iterator[Figure]:
    """All numbers of workers."""
    for n_workers in WORKERS:
        n_jobs = max(JOBS, n_workers)
        require_equal(n_workers, n_jobs)
        tasks = [partial(run, n_workers, n_jobs) for run in (bare_loop, engine, pool, whole)]
        bare, timing, pooled, total = alternate(tasks, PAIRS if n_workers < 100_000 else 3)
        name = f"{n_workers:,} workers"
        per_job = tuple(seconds / n_jobs * 1e6 for seconds in timing)
        yield Figure(f"bare heap / timing phase, {name}", ratios(bare, timing), "≥ 0.6")
        yield Figure(f"  timing phase, us a job, {name}", per_job)
        yield Figure(f"bare heap / pool, {name}", ratios(bare, pooled), "≥ 6")
        yield Figure(f"  bare heap / simulate(), {name}", ratios(bare, total))
    yield Figure("cost of a job at 10,000 workers / at 100", growth(), "≤ 2.5")
    tasks = [partial(run, 10_000, 100_000) for run in (store_program, engine, pool)]
    stores, timing, pooled = alternate(tasks, 3)
    yield Figure("Store for each message / events, 10,000", ratios(stores, timing), "≥ 10")
    yield Figure("Store for each message / pool, 10,000", ratios(stores, pooled), "≥ 10")
    yield Figure("engine, bytes a worker", (bytes_a_worker(),), "≤ 350")


if __name__ == "__main__":
    report(measure, __doc__)
