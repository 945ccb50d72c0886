"""The pipeline against the SimPy program that one would write first, alternating in one run.

    python benchmarks/naive_speed.py [--json FILE]

The naive program has a process a worker, which copies the model, waits, computes its gradient
and puts both into the server's Store; the server measures ||x - v||^2 and steps. Ours simulates,
executes, and measures the same. Both draw the same delays from the same table and end with the
same model. The pipeline runs on the engine that it chooses by itself, machine code where Numba is
installed, and has loaded it before; the other line is NumPy alone.
"""

from collections.abc import Iterator

import numpy as np
import simpy
from figures import Figure, alternate, ratios, report
from problem import SEED, measured, quadratic, timing

from elastic_consistency.execution import Engine
from elastic_consistency.execution.engine import numba_is_installed
from elastic_consistency.random_streams import Cause
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.delays.delay_table import DelayTable, draws_ahead

PARAMETERS, PAIRS = 10_000, 5
CASES = ((512, 3000, "≥ 2"), (4096, 8192, "≥ 4"))  # workers, jobs, target


def naive(workers: int, jobs: int, step_size: float) -> np.ndarray:
    """Processes that copy the model."""
    env, spectrum = simpy.Environment(), np.linspace(0.1, 1.0, PARAMETERS)
    model, inbox = np.ones(PARAMETERS), simpy.Store(env)
    answers = [simpy.Store(env) for _ in range(workers)]

    begun, gaps = 0, []
    laws, ahead = [Exponential(1.0)] * workers, draws_ahead(workers, jobs)
    draw = DelayTable(laws, [1.0] * workers, SEED, Cause.COMPUTE, ahead=ahead).draw

    def work(worker: int):
        nonlocal begun
        view = model.copy()
        while begun < jobs:
            begun += 1
            yield env.timeout(draw(worker, env.now))
            yield inbox.put((worker, view, spectrum * view))
            view = yield answers[worker].get()

    def serve(done):
        nonlocal model
        for _ in range(jobs):
            worker, view, gradient = yield inbox.get()
            gap = model - view
            gaps.append(gap @ gap)
            model = model - step_size * gradient
            yield answers[worker].put(model.copy())
        done.succeed()

    done = env.event()
    for worker in range(workers):
        env.process(work(worker))
    env.process(serve(done))
    env.run(done)
    return model


def measure() -> Iterator[Figure]:
    """Both numbers of workers."""
    oracle = quadratic(PARAMETERS)
    for workers, jobs, target in CASES:
        step_size = 0.1 / workers

        def ours(engine: Engine = Engine.FASTEST) -> np.ndarray:
            schedule = timing(jobs, workers)  # noqa: B023
            return measured(schedule, oracle, step_size=step_size, engine=engine).models[0][0]  # noqa: B023

        def theirs() -> np.ndarray:
            return naive(workers, jobs, step_size)  # noqa: B023

        def in_numpy() -> np.ndarray:
            return ours(Engine.PROGRAM)

        assert np.allclose(in_numpy(), theirs(), rtol=1e-12)
        if numba_is_installed():
            assert np.array_equal(in_numpy(), ours(Engine.COMPILED))  # loads machine code
        slow, chosen, plain = alternate((theirs, ours, in_numpy), PAIRS)
        size = f"{workers:,} workers, d = {PARAMETERS:,}"
        yield Figure(f"naive SimPy program / pipeline, {size}", ratios(slow, chosen), target)
        yield Figure(f"  naive SimPy program / NumPy alone, {size}", ratios(slow, plain))


if __name__ == "__main__":
    report(measure, __doc__)
