"""The convergence theorems against simulated runs: stated constants and ours."""

import math

import numpy as np

from elastic_consistency.bounds import Bound, list_bounds
from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import StartedSequence
from elastic_consistency.optimization.oracles import AbstractOracle, GemanMcClure, Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.curve import Curve
from elastic_consistency.validation.papers.finding import (
    Feature,
    Finding,
    at_most,
    computed,
    over_seeds,
    reproduced,
)

_N = 8


def _bound(name: str) -> Bound:
    return next(bound for bound in list_bounds() if bound.name == name)


def _schedule(jobs: int) -> Schedule:
    return simulate(
        AsynchronousServer(), Cluster.alike(_N, Exponential(1.0)), until=Until(jobs=jobs), seed=0
    )


def _measure(
    jobs: int, oracle: AbstractOracle, step: float, seeds: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, float]:
    """(R,) mean squared gradients, (R,) last squared distances, and B; started sequence."""
    measured = execute(_schedule(jobs), oracle, SGD(step), seeds=seeds, probes=(StartedSequence(),))
    distance = measured["squared_distance_started"].last
    return measured["squared_gradient_started"].mean, distance, measured["gap_started"].peak


def _seeds(effort: Effort) -> tuple[int, ...]:
    return tuple(range(effort.pick(16, 64)))


def nonconvex(effort: Effort, _value: PaperValue) -> Finding:
    """alpha = 1 / sqrt(T) on a smooth non-convex loss."""
    oracle = GemanMcClure(np.full(5, 1.5), variance=0.2)
    constants = oracle.constants()
    lengths = (256, 1024, 4096)
    found, stated, derived = [], [], []
    for jobs in lengths:
        step = 1 / math.sqrt(jobs)
        squares, _, gap = _measure(jobs, oracle, step, _seeds(effort))
        values = {
            "Delta": float(oracle.loss(oracle.start()[None])[0]),
            "L": constants.smoothness,
            "sigma": math.sqrt(constants.variance),
            "B": gap,
            "T": float(jobs),
        }
        found.append(squares)
        stated.append(_bound("published_nonconvex_single_step").evaluate(values | {"alpha_0": 1.0}))
        derived.append(_bound("nonconvex_single_step").evaluate(values | {"alpha": step}))
    return _finding(
        lengths,
        np.array(found),
        stated,
        derived,
        "mean squared gradient",
        "sum x^2 / (1 + x^2) in 5 dimensions, sigma^2 = .2, alpha = 1 / sqrt(T)",
    )


def strongly_convex(effort: Effort, _value: PaperValue) -> Finding:
    """alpha = 2 log T / (c T) on a quadratic."""
    oracle = Quadratic(np.linspace(0.5, 1.0, 5), variance=0.2)
    lengths = (2304, 4608, 9216)  # the stated precondition asks for T >= 144 kappa^4 = 2304
    found, stated, derived = [], [], []
    for jobs in lengths:
        step = 2 * math.log(jobs) / (0.5 * jobs)
        _, distance, gap = _measure(jobs, oracle, step, _seeds(effort))
        values = {
            "R0": math.sqrt(5.0),
            "L": 1.0,
            "c": 0.5,
            "sigma": math.sqrt(0.2),
            "B": gap,
            "T": float(jobs),
        }
        found.append(distance)
        stated.append(_bound("published_strongly_convex_single_step").evaluate(values))
        derived.append(_bound("strongly_convex_single_step").evaluate(values | {"alpha": step}))
    return _finding(
        lengths,
        np.array(found),
        stated,
        derived,
        "squared distance at the end",
        "quadratic, kappa = 2, sigma^2 = .2, alpha = 2 log T / (c T)",
    )


def _finding(
    lengths: tuple[int, ...],
    found: np.ndarray,
    stated: list[float],
    derived: list[float],
    name: str,
    problem: str,
) -> Finding:
    ours = [over_seeds(f"{name}, T = {n}", row) for n, row in zip(lengths, found, strict=True)]
    upper = [measured.estimate.upper for measured in ours]
    series = (("measured", found.mean(axis=1)), ("stated bound", stated), ("our bound", derived))
    return reproduced(
        (
            *ours,
            *(computed(f"stated bound, T = {n}", s) for n, s in zip(lengths, stated, strict=True)),
        ),
        (
            *(
                at_most(f"T = {n}: upper end of the interval / stated bound", u / s, 1.0)
                for n, u, s in zip(lengths, upper, stated, strict=True)
            ),
            Feature(
                "our bound lies between",
                all(u <= d <= s for u, d, s in zip(upper, derived, stated, strict=True)),
                ", ".join(f"{d:.4g}" for d in derived),
            ),
        ),
        scale=f"{problem}; asynchronous server, n = {_N}, exponential times, "
        f"{found.shape[1]} seeds",
        why="B is measured on the run; the stated bound is right and loose",
        curves=tuple(
            Curve(label, lengths, tuple(map(float, row)), ("steps T", name), logarithmic=True)
            for label, row in series
        ),
    )


CLAIMS = (
    PaperClaim(
        "theorem-nonconvex",
        Paper.ELASTIC,
        "A smooth loss converges like 1 / sqrt(T), with B only at higher order.",
        PaperValue(
            "4 Delta / sqrt(T) + 2 B^2 L^2 / T + 6 L sigma^2 / sqrt(T) + 6 L^3 B^2 / T^1.5",
            "theorem, single steps",
            Status.RECALLED,
        ),
        nonconvex,
        seconds=8.0,
    ),
    PaperClaim(
        "theorem-strongly-convex",
        Paper.ELASTIC,
        "A strongly convex loss converges like log T / T, with B only at higher order.",
        PaperValue(
            "R0^2/T + 16 log^2 T L^2 B^2/(c^4 T^2) + 12 sigma^2 log T/(c^2 T) + "
            "48 log^3 T B^2 L^2/(c^4 T^3), T >= 144 L^4/c^4",
            "theorem, single steps",
            Status.RECALLED,
        ),
        strongly_convex,
        seconds=12.0,
    ),
)
