"""Seconds that a number of gradients takes on a cluster with given computing times.

Workers compute without pause and links have no latency; everything is exact.
"""

import heapq
import math
from collections.abc import Sequence

import numpy as np


def batch_seconds(job_seconds: Sequence[float], batch: int) -> float:
    """Return the smallest t with sum_i floor(t / t_i) >= batch, s.

    This is how long a server waits for `batch` gradients at one point from whoever is fast.

    Args:
        job_seconds: Seconds for one gradient on each worker, all > 0.
        batch: Number of gradients, >= 1.

    Source: Tyurin, Richtarik (2023), arXiv:2305.12387.
    """
    times = _checked(job_seconds)
    if batch < 1:
        raise ValueError(f"batch_seconds: batch must be an integer >= 1, got {batch!r}.")
    running = [(seconds, seconds) for seconds in times]
    heapq.heapify(running)
    for _ in range(batch - 1):
        done, seconds = running[0]
        heapq.heapreplace(running, (done + seconds, seconds))
    return running[0][0]


def synchronous_seconds(job_seconds: Sequence[float], steps: int) -> float:
    """Return the time of `steps` steps that wait for every worker, s."""
    return steps * max(_checked(job_seconds))


def asynchronous_seconds(job_seconds: Sequence[float], steps: int) -> float:
    """Return the time until `steps` gradients have been applied one by one, s."""
    return batch_seconds(job_seconds, steps)


def optimal_seconds(
    job_seconds: Sequence[float], *, smoothness: float, delta: float, variance: float, target: float
) -> float:
    """Return min_m (mean_{i<=m} 1/t_i)^-1 (L Delta/eps + sigma^2 L Delta/(m eps^2)), s.

    The optimal time up to a constant factor that is not known; m runs over the fastest workers.

    Args:
        job_seconds: Seconds for one gradient on each worker, all > 0.
        smoothness: L.
        delta: Initial suboptimality.
        variance: sigma^2.
        target: epsilon for E|grad f|^2.

    Source: Tyurin, Richtarik (2023), arXiv:2305.12387, as commonly stated; text not checked.
    """
    rates = 1 / np.sort(np.asarray(_checked(job_seconds)))
    workers = np.arange(1, len(rates) + 1)
    mean_rates = np.cumsum(rates) / workers
    base = smoothness * delta / target
    return float(np.min((base + base * variance / (workers * target)) / mean_rates))


def heterogeneous_seconds(
    job_seconds: Sequence[float], *, smoothness: float, delta: float, variance: float, target: float
) -> float:
    """Return t_max L Delta/eps + mean(t) sigma^2 L Delta/(n eps^2), s, up to a constant factor.

    Every worker has its own data, so none can be left out.

    Source: Tyurin, Richtarik (2023), arXiv:2305.12387 (Malenia), as commonly stated; text not
    checked.
    """
    times = _checked(job_seconds)
    base = smoothness * delta / target
    return max(times) * base + float(np.mean(times)) * variance * base / (len(times) * target)


def sampled_round_seconds(job_seconds: Sequence[float], active: int) -> tuple[float, float]:
    """Return the mean time for `active` gradients, asynchronous and synchronous, s.

    Clients are drawn uniformly. Asynchronous: `active` jobs run at any time, and one of them
    takes mean(t) on average. Synchronous: a round of `active` clients, drawn with replacement,
    takes as long as its slowest, which is the i-th fastest with probability
    (i^C - (i-1)^C) / n^C.

    Source: Koloskova, Stich, Jaggi (2022), arXiv:2206.08307, Lemma 11.
    """
    times = sorted(_checked(job_seconds))
    ranks = np.arange(len(times) + 1, dtype=float) / len(times)
    return float(np.mean(times)), float(np.dot(np.diff(ranks**active), times))


def _checked(job_seconds: Sequence[float]) -> list[float]:
    times = [float(seconds) for seconds in job_seconds]
    if not times or any(not (seconds > 0 and math.isfinite(seconds)) for seconds in times):
        raise ValueError(
            f"job_seconds must be a non-empty sequence of numbers of seconds > 0, got {times!r}."
        )
    return times
