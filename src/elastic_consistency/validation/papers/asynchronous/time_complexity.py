"""Rennala and Ringmaster: simulated time against their time complexity, over laws of speed."""

import numpy as np

from elastic_consistency.bounds.cluster_time import (
    batch_seconds,
    optimal_seconds,
    synchronous_seconds,
)
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AllReduce, Rennala, Ringmaster
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
    at_least,
    at_most,
    computed,
    in_shape,
)

_N, _BATCH = 64, 32  # S = R = sigma^2 / eps
_LAWS = {
    "equal": np.ones(_N),
    "square root": np.sqrt(np.arange(1, _N + 1)),
    "linear": np.arange(1.0, _N + 1),
    "two 1000x stragglers": np.array([1.0] * (_N - 2) + [1000.0] * 2),
    "half of them 100x slower": np.array([1.0] * (_N // 2) + [100.0] * (_N // 2)),
}


def _cluster(seconds: np.ndarray) -> Cluster:
    return Cluster.of_laws(Constant(float(t)) for t in seconds)


def _optimal(seconds: np.ndarray, steps: int) -> float:
    """The optimal order, s, for L Delta / eps = steps and sigma^2 / eps = the batch."""
    return optimal_seconds(
        seconds.tolist(), smoothness=1.0, delta=float(steps), variance=float(_BATCH), target=1.0
    )


def time_rennala(effort: Effort, _value: PaperValue) -> Finding:
    """Seconds of Rennala's steps, against the optimal order and against synchronous batches."""
    steps = effort.pick(40, 400)
    ours = {name: _rennala(seconds, steps) for name, seconds in _LAWS.items()}
    ratios = np.array([ours[name] / _optimal(s, steps) for name, s in _LAWS.items()])
    floors = np.array([batch_seconds(s.tolist(), _BATCH) * steps for s in _LAWS.values()])
    waits = {n: synchronous_seconds(s.tolist(), steps) / ours[n] for n, s in _LAWS.items()}
    return in_shape(
        tuple(
            computed(f"{n}: seconds / optimal order", r) for n, r in zip(_LAWS, ratios, strict=True)
        ),
        (
            at_most("within a constant of the optimal order, largest", float(ratios.max()), 4.0),
            at_least("and not below a constant of it, smallest", float(ratios.min()), 0.25),
            Feature(
                "no step beats the smallest t with sum floor(t / t_i) >= S",
                bool((np.array(list(ours.values())) >= floors * (1 - 1e-9)).all()),
            ),
            at_least(
                "two 1000x stragglers: synchronous / Rennala", waits["two 1000x stragglers"], 100.0
            ),
        ),
        scale=f"n = {_N}, S = {_BATCH}, {steps} steps, five laws of constant speeds",
    )


def _rennala(seconds: np.ndarray, steps: int) -> float:
    jobs = 12 * steps * _BATCH
    schedule = simulate(Rennala(_BATCH), _cluster(seconds), until=Until(jobs=jobs), seed=0)
    at = schedule.rows.time[schedule.rows.op == Op.STEP]
    return float(at[steps - 1])


def time_ringmaster(effort: Effort, _value: PaperValue) -> Finding:
    """Seconds until Ringmaster has applied as many gradients as its theorem needs."""
    steps = effort.pick(40, 400)
    applied = steps * _BATCH
    ratios, synchronous = [], []
    for seconds in _LAWS.values():
        spent = _ringmaster(seconds, applied)
        ratios.append(spent / _optimal(seconds, steps))
        synchronous.append(_all_reduce(seconds, steps) / spent)
    return in_shape(
        tuple(
            computed(f"{n}: seconds / optimal order", r) for n, r in zip(_LAWS, ratios, strict=True)
        ),
        (
            at_most("within a constant of the optimal order, largest", max(ratios), 4.0),
            at_least("and not below a constant of it, smallest", min(ratios), 0.25),
            at_least("two 1000x stragglers: synchronous / Ringmaster", synchronous[3], 100.0),
        ),
        scale=f"n = {_N}, R = {_BATCH}, stopping variant, {applied} applied gradients",
    )


def _ringmaster(seconds: np.ndarray, applied: int) -> float:
    protocol = Ringmaster(_BATCH, stop=True)
    schedule = simulate(protocol, _cluster(seconds), until=Until(jobs=4 * applied), seed=0)
    return float(schedule.rows.time[schedule.rows.op == Op.STEP][applied - 1])


def _all_reduce(seconds: np.ndarray, steps: int) -> float:
    schedule = simulate(AllReduce(), _cluster(seconds), until=Until(jobs=_N * steps), seed=0)
    return float(schedule.rows.time[-1])


_OPTIMAL = "Theta(min_m (mean_{i<=m} 1/t_i)^-1 (L Delta/eps + sigma^2 L Delta/(m eps^2)))"
CLAIMS = (
    PaperClaim(
        "rennala-time",
        Paper.RENNALA,
        "Rennala attains the optimal time complexity whatever the speeds of the workers.",
        PaperValue(_OPTIMAL, "theorem on Rennala", Status.RESTATED),
        time_rennala,
        seconds=8.0,
    ),
    PaperClaim(
        "ringmaster-time",
        Paper.RINGMASTER,
        "Asynchronous SGD that discards gradients of staleness >= R attains it, too.",
        PaperValue(_OPTIMAL, "theorem on Ringmaster", Status.RECALLED),
        time_ringmaster,
        seconds=6.0,
    ),
)
