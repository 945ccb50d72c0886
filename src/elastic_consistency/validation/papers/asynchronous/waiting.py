"""Sampled clients: time for C gradients with and without a barrier (15 s against 42.57 s)."""

import numpy as np

from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Empirical
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
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
    Measured,
    computed,
    near,
    over_seeds,
    reproduced,
)

_FAST, _SLOW, _N_FAST, _N_SLOW, _C = 10.0, 60.0, 900, 100, 10


def sampled_seconds(seconds: np.ndarray, concurrency: int) -> tuple[float, float]:
    """Time for C gradients of clients sampled uniformly: without and with a barrier, s.

    Without, C slots each take mean(Delta) a gradient. With one, the slowest of C draws counts:
    sum_i (i^C - (i - 1)^C) / n^C Delta_i over ascending Delta.
    """
    ordered = np.sort(seconds)
    rank = np.arange(1, len(ordered) + 1) / len(ordered)
    weights = np.diff(rank**concurrency, prepend=0.0)
    return float(ordered.mean()), float(weights @ ordered)


def wait_for_clients(effort: Effort, value: PaperValue) -> Finding:
    """The formula, and simulations of both methods with C slots."""
    clients = np.array([_FAST] * _N_FAST + [_SLOW] * _N_SLOW)
    free, barrier = sampled_seconds(clients, _C)
    law = Empirical.from_samples((_FAST,) * 9 + (_SLOW,))
    seeds, gradients = range(effort.pick(12, 60)), 2000
    simulated = [
        [_per_round(protocol, law, gradients, seed) for seed in seeds]
        for protocol in (AsynchronousServer(), AllReduce())
    ]
    rates = [
        over_seeds(name, np.array(times))
        for name, times in zip(
            ("simulated, free, s", "simulated, barrier, s"), simulated, strict=True
        )
    ]
    return reproduced(
        (computed("free, s", free), computed("barrier, s", barrier), *rates),
        (
            near("mean of the times", free, value["free"], 1e-12),
            near("mean of the largest of C", barrier, value["barrier"], 2e-4),
            _holds("simulated, free", rates[0], free),
            _holds("simulated, barrier", rates[1], barrier),
        ),
        scale=f"{len(seeds)} simulations of {gradients} gradients; the formula is exact",
    )


def _per_round(
    protocol: AsynchronousServer | AllReduce, law: Empirical, n: int, seed: int
) -> float:
    schedule = simulate(protocol, Cluster.alike(_C, law), until=Until(jobs=n), seed=seed)
    return float(schedule.rows.time[-1]) * _C / n


def _holds(name: str, measured: Measured, expected: float) -> Feature:
    """The interval holds the formula, up to 1 % for the ends of a finite run."""
    ours = measured.estimate
    slack = 0.01 * expected
    inside = ours.lower - slack <= expected <= ours.upper + slack
    return Feature(f"{name} agrees with the formula", inside, f"{ours.value:.4g}")


CLAIMS = (
    PaperClaim(
        "sampled-clients",
        Paper.KOLOSKOVA,
        "900 clients of 10 s and 100 of 60 s, C = 10: 15 s for C gradients, 42.57 s synchronously.",
        PaperValue(
            "15 s against 42.57 s",
            "Lemma 11 and its example (its text says 42.5)",
            Status.READ,
            (("free", 15.0), ("barrier", 42.57)),
        ),
        wait_for_clients,
        seconds=3.0,
    ),
)
