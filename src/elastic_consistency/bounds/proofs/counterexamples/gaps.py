"""Systems on a linear loss, where every gradient is the same vector of length M.

Positions are scalars in units of the step size, so a gap is an elastic constant at once.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement

_LENGTHS = (0.5, 1.0, 2.0)


def server_gaps(n: int, rounds: int, *, length: float, slow: int = 0) -> tuple[float, float]:
    """Return the largest started and applied gap of a server with n workers.

    Workers finish in turn; worker 0 is passed over `slow` times before each of its turns.
    """
    started = applied = 0.0
    views = dict.fromkeys(range(n), 0.0)
    started = n * length
    gap_started, gap_applied = (n - 1) * length, 0.0
    for worker in _turns(n, rounds, slow):
        gap_applied = max(gap_applied, abs(applied - views[worker]))
        applied += length
        views[worker] = applied
        gap_started = max(gap_started, abs(started - applied))
        started += length
    return gap_started, gap_applied


def _turns(n: int, rounds: int, slow: int) -> Iterator[int]:
    for _ in range(rounds):
        for _ in range(slow):
            yield from range(1, n)
        yield from range(n)


def started_order() -> list[System]:
    """Return servers for the bound (n - 1) M, legal ones and three that lack something."""
    found = []
    for n, length in itertools.product((2, 3, 8), _LENGTHS):
        gap, _ = server_gaps(n, 5, length=length)
        found.append(System(f"{n} workers in turn, linear loss", {"n": n, "M": length}, gap))
    late_started, late_applied = server_gaps(8, 3, length=1.0, slow=20)
    two_jobs, _ = server_gaps(16, 5, length=1.0)
    values = {"n": 8, "M": 1.0}
    return [
        *found,
        System("one worker 20 times slower, started order", values, late_started),
        System(
            "the same in applied order",
            values,
            late_applied,
            frozenset({Requirement.STARTED_ORDER}),
        ),
        System(
            "each worker reads twice before its first job is applied",
            values,
            two_jobs,
            frozenset({Requirement.ONE_UNAPPLIED_JOB}),
        ),
        _longer("8 workers in turn", values, 7.0),
        _heavier("8 workers in turn", values, 7.0),
    ]


def in_flight() -> list[System]:
    """Return servers for the bound c_jobs M."""
    found = [
        System(f"{n} jobs in flight", {"c_jobs": n - 1, "M": m}, server_gaps(n, 4, length=m)[0])
        for n, m in itertools.product((2, 5), _LENGTHS)
    ]
    late = server_gaps(5, 3, length=1.0, slow=20)[1]
    values = {"c_jobs": 4, "M": 1.0}
    lacking = frozenset({Requirement.STARTED_ORDER})
    return [
        *found,
        System("a straggler, applied order", values, late, lacking),
        _longer("5 jobs in flight", values, 4.0),
        _heavier("5 jobs in flight", values, 4.0),
    ]


def applied_order() -> list[System]:
    """Return servers for the bound tau_max M."""
    found = [
        System(f"{n} workers in turn", {"tau_max": n - 1, "M": m}, server_gaps(n, 4, length=m)[1])
        for n, m in itertools.product((2, 5), _LENGTHS)
    ]
    values = {"tau_max": 1, "M": 1.0}
    initial = System(
        "staleness 1 in applied order, started order with 9 jobs in flight at the start",
        values,
        server_gaps(9, 1, length=1.0)[0],
        frozenset({Requirement.APPLIED_ORDER}),
    )
    late = System(
        "staleness 4 instead of 1",
        values,
        server_gaps(5, 4, length=1.0)[1],
        frozenset({Requirement.BOUNDED_STALENESS}),
    )
    others = (_longer("2 workers in turn", values, 1.0), _heavier("2 workers in turn", values, 1.0))
    return [*found, initial, late, *others]


def shared_memory(extra: dict[str, float] | None = None) -> list[System]:
    """Return writers in turn for the bound tau_max M, with further symbols."""
    return [
        replace(system, values={**system.values, **(extra or {})})
        for system in applied_order()
        if Requirement.APPLIED_ORDER not in system.lacks
    ]


def late_messages() -> list[System]:
    """Return nodes whose messages arrive tau rounds late."""
    found = [_late(p, tau, m) for p, tau, m in itertools.product((2, 8), (1, 5), _LENGTHS)]
    worse = _late(8, 6, 1.0)
    values = {"p": 8, "tau": 5, "M": 1.0}
    lacking = frozenset({Requirement.BOUNDED_STALENESS})
    return [
        *found,
        System("one round later", values, worse.measured, lacking),
        _early({"p": 2, "tau": 0, "M": 1.0}),
        _longer("8 nodes, 5 rounds late", values, 35 / 8),
    ]


def late_means_or_noises() -> list[System]:
    """Return late messages without noise, and without mean on a linear loss."""
    found = []
    for p, tau, size in itertools.product((2, 8), (1, 5), _LENGTHS):
        values, count = {"p": p, "tau": tau}, (p - 1) * tau
        means, noises = {"G": size, "sigma": 0.0}, {"G": 0.0, "sigma": size}
        found += [
            System("means only, aligned", values | means, count * size / p),
            System("independent noise only", values | noises, math.sqrt(count) * size / p),
        ]
    values = {"p": 8, "tau": 5, "G": 0.0, "sigma": 1.0}
    means = values | {"G": 1.0, "sigma": 0.0}
    lacking = (
        (Requirement.BOUNDED_STALENESS, "one round later", means, 42 / 8),
        (Requirement.BOUNDED_GRADIENT, "means of length 2 G", means, 70 / 8),
        (Requirement.VARIANCE, "noise of 2 sigma", values, math.sqrt(35) / 4),
        (Requirement.UNBIASED, "all messages have the same noise", values, 35 / 8),
        (Requirement.OBLIVIOUS, "only messages whose noise agrees are late", values, 35 / 8),
    )
    early = _early({"p": 2, "tau": 0, "G": 1.0, "sigma": 0.0})
    return [*found, early, *(System(t, v, gap, frozenset({r})) for r, t, v, gap in lacking)]


def _late(p: int, tau: int, length: float) -> System:
    missing = sum(length / p for _ in range(p - 1) for _ in range(tau))
    return System(f"{p} nodes, {tau} rounds late", {"p": p, "tau": tau, "M": length}, missing)


def _early(values: dict[str, float]) -> System:
    return System(
        "node 0 ends round 1 before node 1 begins it, and node 1 adds its update at once",
        values,
        1 / 2,
        frozenset({Requirement.HELD_BACK}),
    )


def missing_messages() -> list[System]:
    """Return nodes that lack f messages for ever."""
    found = [
        System(f"{f} of {p} messages missing", {"f": f, "p": p, "M": m}, f * m / p)
        for f, p, m in itertools.product((1, 3), (4, 8), _LENGTHS)
    ]
    values = {"f": 3, "p": 8, "M": 1.0}
    more = System(
        "independent losses of 5 % over 10000 rounds",
        values,
        0.05 * 7 * 10000 / 8,
        frozenset({Requirement.BOUNDED_MISSING}),
    )
    early = _early({"p": 2, "f": 0, "M": 1.0})
    return [*found, more, early, _longer("3 of 8 messages missing", values, 3 / 8)]


def _stand_in(m: int, p: int, sigma: float, values: dict[str, float]) -> list[System]:
    noise = sigma * math.sqrt(m * m + m) / p
    opposite = f"noise of the {m} replaced nodes is the opposite of the own"
    kink = "a kink: mean gradients of two views differ so much that they shift the gap 20-fold"
    cases = (
        (Requirement.VARIANCE, "twice the noise", 2 * noise),
        (Requirement.UNBIASED, opposite, 2 * m * sigma / p),
        (Requirement.OBLIVIOUS, opposite, 2 * m * sigma / p),
        (Requirement.CATCH_UP, "nothing arrives for ten rounds", math.sqrt(10) * noise),
        (Requirement.SMOOTH, kink, 20 * noise - noise),
    )
    return [
        System(f"independent noise, {m} of {p} replaced", values, noise),
        *(System(text, values, gap, frozenset({which})) for which, text, gap in cases),
    ]


def crash_stand_in() -> list[System]:
    """Return crashes with a stand-in; the curvature is small, the noise decides."""
    found = []
    for f, p, sigma in itertools.product((1, 4), (8,), _LENGTHS):
        values = {"f": f, "p": p, "sigma": sigma, "alpha": 0.01, "L": 1e-4}
        found += _stand_in(f, p, sigma, values)
    return found


def elastic_stand_in() -> list[System]:
    """Return all-reduces that are late as a whole."""
    found = []
    for p, sigma in itertools.product((2, 8), _LENGTHS):
        values = {"p": p, "sigma": sigma, "alpha": 0.01, "L": 1e-4}
        found += _stand_in(p - 1, p, sigma, values)
    return found


def late_parts() -> list[System]:
    """Return senders whose late part has exactly the share that the test allows."""
    found = [
        System(
            f"{p} nodes, late share {math.sqrt(1 - beta**2):.2f}",
            {"p": p, "beta": beta, "M": m},
            math.sqrt(1 - beta**2) * m * (p - 1) / p,
        )
        for p, beta, m in itertools.product((2, 8), (0.0, 0.6, 0.8), _LENGTHS)
    ]
    values = {"p": 8, "beta": 0.8, "M": 1.0}
    whole = System("whole gradients late", values, 7 / 8, frozenset({Requirement.NORM_TEST}))
    never = System("beta = 1.05: no early start", {"p": 8, "beta": 1.05, "M": 1.0}, 0.0)
    return [
        *found,
        whole,
        never,
        _two_steps(values, 0.6 * 7 / 8),
        _longer("late", values, 0.6 * 7 / 8),
    ]


def late_wholes() -> list[System]:
    """Return senders whose gradients are late as a whole."""
    found = [
        System(f"{p} nodes, whole gradients late", {"p": p, "M": m}, m * (p - 1) / p)
        for p, m in itertools.product((2, 8), _LENGTHS)
    ]
    values = {"p": 8, "M": 1.0}
    return [*found, _two_steps(values, 7 / 8), _longer("whole gradients late", values, 7 / 8)]


def _two_steps(values: dict[str, float], gap: float) -> System:
    lacking = frozenset({Requirement.CATCH_UP})
    return System("what is late arrives two steps late", values, 2 * gap, lacking)


def _heavier(description: str, values: dict[str, float], gap: float) -> System:
    """Return the same system in which each job is applied twice."""
    lacking = frozenset({Requirement.UNIT_WEIGHT})
    return System(f"{description}, each job applied twice", values, 2 * gap, lacking)


def _longer(description: str, values: dict[str, float], gap: float) -> System:
    """Return the same system with gradients twice as long as M allows."""
    lacking = frozenset({Requirement.SECOND_MOMENT})
    return System(f"{description}, gradients of length 2 M", values, 2 * gap, lacking)


def two_parts() -> list[System]:
    """Return two relaxations whose errors point the same way."""
    found = [
        System("aligned errors", {"B_1": one, "B_2": two}, one + two)
        for one, two in itertools.product((0.5, 7.0), (1.0, 20.0))
    ]
    lacking = frozenset({Requirement.ELASTIC})
    return [*found, System("twice the errors", {"B_1": 1, "B_2": 2}, 6.0, lacking)]
