"""Least squares on 40 uneven workers: plain and delay-adaptive steps against mini-batches."""

import numpy as np

from elastic_consistency.execution import DivergenceError, execute
from elastic_consistency.optimization.oracles import LeastSquares
from elastic_consistency.optimization.update_rules import SGD, DelayAdaptive
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, Worker, simulate
from elastic_consistency.simulator.delays import ShiftedExponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import (
    FRESH_SEED,
    Finding,
    at_least,
    computed,
    in_shape,
    over_seeds,
)

_WORKERS = 40


def _problem(rows: int, columns: int, batch: int) -> LeastSquares:
    """A ~ U[0, 1] / sqrt(d), noise of 1e-5, and so almost interpolation."""
    rng = np.random.default_rng(FRESH_SEED)
    matrix = rng.uniform(size=(rows, columns)) / np.sqrt(columns)
    response = matrix @ rng.normal(size=columns) + 1e-5 * rng.normal(size=rows)
    return LeastSquares(matrix, response, batch=batch)


def _cluster() -> Cluster:
    """Every fourth worker is 10 times slower, one 100 times."""
    slow = [100.0 if k == 0 else 10.0 if k % 4 == 0 else 1.0 for k in range(_WORKERS)]
    return Cluster(tuple(Worker(ShiftedExponential(0.5, 0.5), slowdown=s) for s in slow))


def run_workers(effort: Effort, value: PaperValue) -> Finding:
    """Final loss at the same time, each method at its best step; and what the delays were."""
    oracle = _problem(effort.pick(1000, 10_000), effort.pick(50, 400), effort.pick(64, 256))
    seconds, seeds = effort.pick(120, 400), range(FRESH_SEED + 1, FRESH_SEED + effort.pick(6, 11))
    smoothness = oracle.constants(1.0).smoothness
    base, average = value["asynchronous step"], _WORKERS * value["synchronous step"]
    adaptive = DelayAdaptive(base, smoothness)
    grids: dict[str, tuple[AbstractRule, ...]] = {
        "plain": tuple(SGD(base / k) for k in (2, 4, 8)),
        "delay-adaptive": (adaptive,),
        "mini-batch": tuple(SGD(average / k) for k in (1, 2, 4, 8)),
    }
    found: dict[str, list[float]] = {name: [] for name in grids}
    longest, rules = [], _best_rules(oracle, grids, seconds)
    for seed in seeds:
        free, barrier = (_simulated(p, seconds, seed) for p in (AsynchronousServer(), AllReduce()))
        for name, rule in rules.items():
            met = barrier if name == "mini-batch" else free
            found[name].append(_loss(met, oracle, rule, seed))
        longest.append(float(free.staleness().steps.max()))
    blown = _loss(
        _simulated(AsynchronousServer(), seconds, FRESH_SEED), oracle, SGD(base), FRESH_SEED
    )
    return _finding(found, longest, blown, oracle, f"{seconds} s, {len(seeds)} seeds")


def _finding(
    found: dict[str, list[float]],
    longest: list[float],
    blown: float,
    oracle: LeastSquares,
    length: str,
) -> Finding:
    mean = {name: float(np.mean(values)) for name, values in found.items()}
    return in_shape(
        (
            *(
                over_seeds(f"loss, {name}", np.array(v), seed=FRESH_SEED + 1)
                for name, v in found.items()
            ),
            over_seeds("largest delay", np.array(longest), seed=FRESH_SEED + 1),
            computed("loss, plain at the notebook's step", blown),
        ),
        (
            at_least(
                "plain asynchronous beats mini-batches: ratio of losses",
                mean["mini-batch"] / mean["plain"],
                1.5,
            ),
            at_least(
                "so does delay-adaptive, at the notebook's step",
                mean["mini-batch"] / mean["delay-adaptive"],
                1.5,
            ),
            at_least("the largest delay is far above M", min(longest) / _WORKERS, 5.0),
            at_least("where plain steps of that size blow up", blown, 1e3),
        ),
        scale=f"{len(oracle.rows)} x {oracle.dimension} (notebook: 10000 x 400), batch "
        f"{oracle.batch}, {_WORKERS} workers, {length}",
        why="plain and mini-batch steps are chosen on another seed, from the notebook's downwards; "
        "the speeds of the workers are ours: one 100 and every fourth 10 times slower",
    )


def _best_rules(
    oracle: LeastSquares, grids: dict[str, tuple[AbstractRule, ...]], seconds: int
) -> dict[str, AbstractRule]:
    free, barrier = (
        _simulated(p, seconds, FRESH_SEED) for p in (AsynchronousServer(), AllReduce())
    )
    met = {name: barrier if name == "mini-batch" else free for name in grids}
    return {
        name: min(grid, key=lambda rule, name=name: _loss(met[name], oracle, rule, FRESH_SEED))
        for name, grid in grids.items()
    }


def _simulated(protocol: AsynchronousServer | AllReduce, seconds: int, seed: int) -> Schedule:
    return simulate(protocol, _cluster(), until=Until(time_s=float(seconds)), seed=seed)


def _loss(schedule: Schedule, oracle: LeastSquares, rule: AbstractRule, seed: int) -> float:
    try:
        measured = execute(schedule, oracle, rule, seeds=(seed,))
    except DivergenceError:
        return float("inf")
    return float(oracle.loss(measured.models[0])[0])


CLAIMS = (
    PaperClaim(
        "least-squares",
        Paper.MISHCHENKO,
        "Asynchronous SGD beats mini-batch SGD whatever the delays, which only M limits.",
        PaperValue(
            "steps .43 asynchronous, .19 synchronous; delays far above M do no harm",
            "authors' notebook",
            Status.READ,
            (("asynchronous step", 0.43), ("synchronous step", 0.19)),
        ),
        run_workers,
        seconds=15.0,
    ),
)
