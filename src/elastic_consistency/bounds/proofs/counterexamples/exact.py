"""Systems for bounds that are equalities: staleness sums, stability limits, mixing weights."""

import itertools
import math

import numpy as np

from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement


def _sum_of_staleness(n: int, jobs: int, *, ahead: int = 1) -> float:
    """Return the sum for n workers in turn, each with `ahead` jobs at a time, drained."""
    versions = [0] * min(n * ahead, jobs)
    read, total, version = len(versions), 0, 0
    while versions:
        total += version - versions.pop(0)
        version += 1
        if read < jobs:
            versions.append(version)
            read += 1
    return float(total)


def staleness_sums() -> list[System]:
    """Return servers with n workers in turn."""
    found = [
        System(f"{n} workers in turn, {jobs} jobs", {"n": n, "T": jobs}, _sum_of_staleness(n, jobs))
        for n, jobs in (*itertools.product((1, 2, 5), (5, 12, 40)), (20, 18), (20, 19))
    ]
    values = {"n": 5, "T": 40}
    cases = (
        (Requirement.DRAINED, "one of five jobs is never applied", _sum_of_staleness(4, 40)),
        (Requirement.ONE_UNAPPLIED_JOB, "two jobs a worker", _sum_of_staleness(5, 40, ahead=2)),
        (Requirement.ZERO_LATENCY, "pulls so slow that no jobs overlap", 0.0),
    )
    return [*found, *(System(text, values, total, frozenset({r})) for r, text, total in cases)]


def discarded_sums() -> list[System]:
    """Return servers with n = R workers in turn, none of whose jobs is discarded, and one more."""
    found = [
        System(f"{n} workers in turn", {"R": n, "T": jobs}, _sum_of_staleness(n, jobs))
        for n, jobs in itertools.product((2, 3, 5), (10**4, 10**5))
    ]
    values = {"R": 3, "T": 1000}
    stale = System(
        "8 workers in turn, nothing discarded",
        values,
        _sum_of_staleness(8, 1000),
        frozenset({Requirement.BOUNDED_STALENESS}),
    )
    return [*found, stale]


def left_out_shares() -> list[System]:
    """Return TopK of vectors with equal entries, and unbiased RandomK, which amplifies by d/K."""
    biased = [
        System(f"{kept} of {d} equal entries", {"gamma": 1 - kept / d}, (d - kept) / d)
        for d, kept in ((2, 1), (10, 1), (10, 9))
    ]
    unbiased = [
        System(f"{kept} of {d} entries, times {d / kept:g}", {"gamma": d / kept - 1}, spread)
        for d, kept, spread in (
            (d, kept, (1 - kept / d) + kept / d * (d / kept - 1) ** 2)
            for d, kept in ((4, 1), (10, 2))
        )
    ]
    return [*biased, *unbiased]


def _mean_scale(rates: tuple[float, ...]) -> float:
    """Return E[1 / (1 + staleness)]: the staleness of worker i is geometric with q_i."""
    total = 0.0
    for rate in rates:
        q = rate / sum(rates)
        total += q * sum(q * (1 - q) ** k / (1 + k) for k in range(4000))
    return total


def mean_scales() -> list[System]:
    """Return exponential servers: each apply comes from a uniformly drawn worker."""
    found = [
        System(f"{n} equal workers", {"n": n, "alpha": a}, a * _mean_scale((1.0,) * n))
        for n, a in itertools.product((2, 5, 16), (0.1, 2.0))
    ]
    values = {"n": 2, "alpha": 1.0}
    return [
        *found,
        System(
            "rates 10 and 1",
            values,
            _mean_scale((10.0, 1.0)),
            frozenset({Requirement.HOMOGENEOUS_SPEEDS}),
        ),
        System(
            "two jobs a worker",
            values,
            _mean_scale((1.0,) * 4),
            frozenset({Requirement.ONE_UNAPPLIED_JOB}),
        ),
        System(
            "pulls so slow that workers take turns alone",
            values,
            1.0,
            frozenset({Requirement.ZERO_LATENCY}),
        ),
    ]


def _stable_limit(tau: int, curvature: float) -> float:
    """Return the largest stable step by bisection on the spectral radius."""
    low, high = 0.0, 2.0 / curvature + 1e-9
    for _ in range(60):
        middle = (low + high) / 2
        polynomial = np.zeros(tau + 2)
        polynomial[0], polynomial[1] = 1.0, -1.0
        polynomial[-1] += middle * curvature
        stable = max(abs(np.roots(polynomial))) <= 1.0
        low, high = (middle, high) if stable else (low, middle)
    return low


def stability_limits() -> list[System]:
    """Return the roots of z^(tau + 1) - z^tau + a lambda."""
    found = [
        System(f"delay {tau}", {"tau": tau, "lambda": c}, _stable_limit(tau, c))
        for tau, c in itertools.product((0, 1, 2, 5), (0.5, 2.0))
    ]
    values = {"tau": 5, "lambda": 1.0}
    return [
        *found,
        System("no delay", values, _stable_limit(0, 1.0), frozenset({Requirement.FIXED_DELAY})),
        System(
            "curvature 2 far out", values, _stable_limit(5, 2.0), frozenset({Requirement.QUADRATIC})
        ),
    ]


def _lag_weights(k: int) -> list[np.ndarray]:
    """Return W_s ... W_1 - J for the lags 1 to k, one-peer exponential graph of 2^k nodes."""
    n = 2**k
    product, found = np.eye(n), []
    for hop in range(k):
        shift = np.roll(np.eye(n), 2**hop, axis=0)
        product = (np.eye(n) + shift) / 2 @ product
        found.append(product - 1 / n)
    return found


def worst_nodes() -> list[System]:
    """Return the node whose gradients all have the worst signs."""
    found = [
        System(f"{2**k} nodes", {"k": k, "M": m}, m * sum(abs(w[0]).sum() for w in _lag_weights(k)))
        for k, m in itertools.product((1, 2, 3, 4, 5), (0.5, 2.0))
    ]
    values = {"k": 3, "M": 1.0}
    return [
        *found,
        System("gradients of length 2 M", values, 2 * 2.5, frozenset({Requirement.SECOND_MOMENT})),
        System("no mixing", values, 100.0, frozenset({Requirement.EXACT_AFTER_K})),
    ]


def node_noises() -> list[System]:
    """Return independent noise on every node and step."""
    found = [
        System(
            f"{2**k} nodes",
            {"k": k, "sigma": m},
            m * math.sqrt(sum((w[0] ** 2).sum() for w in _lag_weights(k))),
        )
        for k, m in itertools.product((1, 2, 3, 4, 5), (0.5, 2.0))
    ]
    values = {"k": 3, "sigma": 1.0}
    return [
        *found,
        System("noise of 2 sigma", values, 2 * math.sqrt(0.5), frozenset({Requirement.VARIANCE})),
        System("no mixing", values, 100.0, frozenset({Requirement.EXACT_AFTER_K})),
        System("a concave loss", values, 100.0, frozenset({Requirement.LINEAR_LOSS})),
    ]
