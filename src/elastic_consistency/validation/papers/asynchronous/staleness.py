"""Staleness of an asynchronous server: its sum, its law, and what DynSGD makes of it."""

import math

import numpy as np

from elastic_consistency.simulator import Cluster, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential, LogNormal, Pareto
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import (
    Feature,
    Finding,
    computed,
    near,
    over_seeds,
    reproduced,
)

_N = 8


def add_up_staleness(_effort: Effort, _value: PaperValue) -> Finding:
    """Sum of staleness against (n - 1) T - n (n - 1) / 2 for five timings, drained."""
    jobs, laws = 2000, (Constant(1.0), Exponential(1.0), LogNormal(1.0, 1.5), Pareto(0.1, 1.2))
    clusters = [Cluster.alike(_N, law) for law in laws]
    uneven = (Worker(Exponential(1.0), slowdown=200.0), *[Worker(Exponential(1.0))] * (_N - 1))
    clusters.append(Cluster(uneven))
    sums = [
        int(
            simulate(AsynchronousServer(), c, until=Until(jobs=jobs), seed=1)
            .staleness()
            .steps.sum()
        )
        for c in clusters
    ]
    expected = (_N - 1) * jobs - _N * (_N - 1) // 2
    return reproduced(
        (computed("mean staleness in the limit", _N - 1), computed("sum, each timing", sums[0])),
        (
            Feature(
                "the sum is the same integer for every timing",
                all(total == expected for total in sums),
                f"{sums} against {expected}",
            ),
        ),
        scale=f"n = {_N}, {jobs} updates; constant, exponential, log-normal, Pareto, straggler",
        why="it needs no homogeneity: every update ages each of the n - 1 others by one",
    )


def weigh_by_staleness(effort: Effort, value: PaperValue) -> Finding:
    """Mean of 1 / (tau + 1) under exponential service."""
    seeds, jobs = range(effort.pick(10, 50)), 20_000
    means = np.array([_mean_weight(jobs, seed) for seed in seeds])
    ours = over_seeds("mean weight", means)
    expected, stated = math.log(_N) / (_N - 1), value["stated"]
    inside = ours.estimate.lower <= expected <= ours.estimate.upper
    return reproduced(
        (ours, computed("ln n / (n - 1)", expected)),
        (
            near("the mean weight is 1 / (n - 1), as stated", ours.estimate.value, stated, 0.05),
            Feature("it is ln n / (n - 1), derived here", inside, f"{ours.estimate.value:.5g}"),
        ),
        scale=f"n = {_N}, {len(seeds)} seeds of {jobs} updates, exponential times",
        why="the mean of 1 / (1 + tau) is not 1 / the mean (Jensen): the staleness is geometric",
    )


def _mean_weight(jobs: int, seed: int) -> float:
    cluster = Cluster.alike(_N, Exponential(1.0))
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=seed)
    steady = schedule.staleness().steps[10 * _N :]
    return float((1 / (1 + steady)).mean())


CLAIMS = (
    PaperClaim(
        "staleness-mean",
        Paper.ENERGY,
        "The expected staleness is n - 1 when the workers are homogeneous.",
        PaperValue("E[tau] = n - 1", "section on asynchrony", Status.READ),
        add_up_staleness,
        whole=True,
        seconds=2.0,
    ),
    PaperClaim(
        "dynsgd-weight",
        Paper.ENERGY,
        "DynSGD's mean weight of an update is 1 / (n - 1).",
        PaperValue(
            "1 / (n - 1)",
            "Hermans' thesis, equation on DynSGD",
            Status.READ,
            (("stated", 1 / (_N - 1)),),
        ),
        weigh_by_staleness,
        seconds=6.0,
    ),
)
