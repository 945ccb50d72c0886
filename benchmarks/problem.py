"""The problem that most benchmarks share, and the loop that one would write for it by hand."""

import numpy as np

from elastic_consistency.execution import Engine, Measurement, execute
from elastic_consistency.execution.probes import AppliedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer

STEP_SIZE, WORKERS, SEED = 0.01, 16, 0


def quadratic(d: int) -> Quadratic:
    """A deterministic quadratic in d parameters."""
    return Quadratic(np.linspace(0.1, 1.0, d))


def timing(jobs: int, workers: int = WORKERS) -> Schedule:
    """The schedule of an asynchronous server with equal workers."""
    cluster = Cluster.alike(workers, Exponential(1.0))
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=SEED)


def measured(
    schedule: Schedule,
    oracle: Quadratic,
    *,
    seeds: tuple[int, ...] = (SEED,),
    engine: Engine = Engine.FASTEST,
    step_size: float = STEP_SIZE,
) -> Measurement:
    """Execute, and measure the gap of every view."""
    probes = (AppliedSequence(every=10**9),)
    return execute(schedule, oracle, SGD(step_size), seeds=seeds, probes=probes, engine=engine)


def floor_loop(schedule: Schedule, oracle: Quadratic) -> np.ndarray:
    """What one would write by hand: gradient, update and ||x - v||^2, nothing else."""
    spectrum, x = oracle.spectrum, oracle.start()
    gaps, views, gradients = [], {}, {}
    for op, job in zip(schedule.rows.op.tolist(), schedule.rows.job.tolist(), strict=True):
        if op == Op.READ:
            views[job] = x
        elif op == Op.GRADIENT:
            gradients[job] = spectrum * views[job]
        elif op == Op.ADD:
            gap = x - views.pop(job)
            gaps.append(gap @ gap)
            x = x - STEP_SIZE * gradients.pop(job)
    return x
