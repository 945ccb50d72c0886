"""Systems with a memory: error feedback, momentum, mixing, local steps."""

import itertools
import math
from dataclasses import replace

from elastic_consistency.bounds.proofs.counterexamples.gaps import server_gaps
from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement

_LENGTHS = (0.5, 1.0, 2.0)
_STEPS = 3000


def _limit(factor: float, push: float) -> float:
    """Return where r <- factor r + push is after many steps from 0."""
    r = 0.0
    for _ in range(_STEPS):
        r = factor * r + push
    return r


def residuals(extra: dict[str, float] | None = None) -> list[System]:
    """Return the scaling codec (1 - sqrt(gamma)) w under a constant gradient.

    Args:
        extra: Values of further symbols.
    """
    further = extra or {}
    roots = (0.1, 0.5, 0.618034, 0.9, 0.99)
    found = [
        System(
            f"codec w -> {1 - root:.3f} w, constant gradient",
            {"gamma": root**2, "M": m} | further,
            _limit(root, root * m),
        )
        for root, m in itertools.product(roots, _LENGTHS)
    ]
    values = {"gamma": 0.25, "M": 1.0} | further
    nothing = System(
        "a codec that sends nothing", values, 100.0, frozenset({Requirement.CONTRACTION})
    )
    lost = System(
        "what the codec leaves out is thrown away: the error of t steps adds up",
        values,
        0.5 * 100,
        frozenset({Requirement.ERROR_FEEDBACK}),
    )
    long = System(
        "gradients of length 2 M", values, _limit(0.5, 1.0), frozenset({Requirement.SECOND_MOMENT})
    )
    beyond = System("gamma = 1.05", {"gamma": 1.05, "M": 1.0} | further, _limit(1.02, 1.02))
    return [*found, nothing, lost, long, beyond]


def codecs(*, sends_in_turn: bool, named: dict[str, float]) -> list[System]:
    """Return systems for TopK or one-bit: a ramp, and the general codecs that they are not.

    Args:
        sends_in_turn: Whether a codec that sends coordinates in turn is admitted (TopK).
        named: Values of d and K that give gamma = 1 - K/d (K = 1 for one-bit).
    """
    ratio = named["d"] / named.get("K", 1.0)
    root = math.sqrt(1 - 1 / ratio)
    values = dict(named, M=1.0)
    steps = 10000.0
    cases = (
        (Requirement.CONTRACTION, "a codec that sends nothing for 10000 steps", steps),
        (Requirement.ERROR_FEEDBACK, "half of 20000 updates thrown away", steps),
        (Requirement.SECOND_MOMENT, "gradients of length 10000 M", steps * root),
    )
    scaling = System("scaling codec with the same contraction", values, _limit(root, root))
    ramp = [ramp_of_ages(int(ratio), values)] if sends_in_turn else []
    return [scaling, *ramp, *(System(text, values, gap, frozenset({r})) for r, text, gap in cases)]


def ramp_of_ages(n: int, values: dict[str, float]) -> System:
    """Return TopK under a constant flat gradient: coordinates are sent in turn."""
    ages = sum(age**2 for age in range(n)) / n
    return System("constant flat gradient, coordinates in turn", values, math.sqrt(ages))


def residuals_on_a_server() -> list[System]:
    """Return n workers in turn, each with the scaling codec, constant gradient."""
    found = []
    for n, root in itertools.product((2, 8), (0.5, 0.9, 0.95)):
        values = {"n": n, "gamma": root**2, "M": 1.0}
        found.append(System(f"{n} workers with residuals", values, _server(n, root)))
    values = {"n": 8, "gamma": 0.25, "M": 1.0}
    straggler = server_gaps(8, 3, length=1.0, slow=20)[1]
    cases = (
        (Requirement.SECOND_MOMENT, "gradients of length 2 M", 2 * _server(8, 0.5)),
        (Requirement.UNIT_WEIGHT, "each job applied twice", 2 * _server(8, 0.5)),
        (Requirement.CONTRACTION, "codecs that send nothing, 100 jobs a worker", 8 * 100.0),
        (Requirement.ERROR_FEEDBACK, "half of 800 updates thrown away", 0.5 * 800),
        (Requirement.ONE_UNAPPLIED_JOB, "16 jobs in flight", 15.0 + 8 * 1.0),
        (Requirement.STARTED_ORDER, "one straggler, applied order", straggler),
    )
    beyond = System("gamma = 1.05", {"n": 8, "gamma": 1.05, "M": 1.0}, 1e3)
    return [*found, beyond, *(System(text, values, gap, frozenset({r})) for r, text, gap in cases)]


def _server(n: int, root: float) -> float:
    started, applied, gap = float(n), 0.0, 0.0
    residual = [0.0] * n
    for turn in range(_STEPS):
        worker = turn % n
        whole = residual[worker] + 1.0
        residual[worker] = root * whole
        applied += whole - residual[worker]
        gap = max(gap, abs(started - applied))
        started += 1.0
    return gap


def momentum(*, nesterov: bool = False) -> list[System]:
    """Return heavy ball, or Nesterov's form of it, under a constant gradient."""
    ahead = 2 if nesterov else 1
    own, other = Requirement.NESTEROV, Requirement.HEAVY_BALL
    found = [
        System(f"momentum {mu}", {"mu": mu, "M": m}, mu**ahead * _limit(mu, m))
        for mu, m in itertools.product((0.1, 0.5, 0.9), _LENGTHS)
    ]
    values = {"mu": 0.5, "M": 1.0}
    long = 2 * 0.5**ahead * _limit(0.5, 1.0)
    fast = 0.9**ahead * _limit(0.9, 1.0)
    return [
        *found,
        System("gradients of length 2 M", values, long, frozenset({Requirement.SECOND_MOMENT})),
        System("momentum .9 instead of mu", values, fast, frozenset({own if nesterov else other})),
        System("momentum 1.05", {"mu": 1.05, "M": 1.0}, 1.05**ahead * _limit(1.005, 1.0)),
    ]


def mixing(*, combine_first: bool) -> list[System]:
    """Return two nodes with gradients +M and -M and mixing weights (1 +- rho) / 2."""
    found = []
    for rho, m in itertools.product((0.0, 0.1, 0.5, 0.9), _LENGTHS):
        push = m if combine_first else rho * m
        found.append(System(f"two nodes, rho = {rho}", {"rho": rho, "M": m}, _limit(rho, push)))
    values = {"rho": 0.5, "M": 1.0}
    long = System("gradients of length 2 M", values, 4.0, frozenset({Requirement.SECOND_MOMENT}))
    unmixed = System("no mixing at all", values, 100.0, frozenset({Requirement.DOUBLY_STOCHASTIC}))
    return [*found, long, unmixed, System("rho = 1.05", {"rho": 1.05, "M": 1.0}, 1e3)]


def masses() -> list[System]:
    """Return push-sum with equal masses, and a node that has given away all but a mass of e."""
    equal = [
        replace(system, values={**system.values, "w_mass": 1.0, "m_rounds": 1.0})
        for system in mixing(combine_first=False)
        if not system.lacks
    ]
    exact = [
        System(f"4 nodes, M = {m}", {"M": m, "rho": 0.0, "m_rounds": 2.0, "w_mass": 1.0}, m)
        for m in _LENGTHS
    ]
    light = [_light(e) for e in (1e-4, 1e-12, 1e-24)]
    values = {"M": 1.0, "rho": 0.5, "m_rounds": 1.0, "w_mass": 1.0}
    lacking = (
        (Requirement.SECOND_MOMENT, "gradients of length 2 M", 2.0),
        (Requirement.COLUMN_STOCHASTIC, "what is sent gets lost: means drift apart", 100.0),
        (Requirement.MASS_MIXING, "no mixing", 100.0),
        (Requirement.MASS_BOUNDED, "a node of mass 1e-4", light[0].measured),
    )
    return [
        *equal,
        *exact,
        *light,
        *(System(text, values, gap, frozenset({r})) for r, text, gap in lacking),
    ]


def _light(e: float) -> System:
    """Return two nodes of masses e and 2 - e after one gradient at node 0, averaged later."""
    mean = 0.5
    squared = e / 2 * (1 / e - mean) ** 2 + (1 - e / 2) * mean**2
    values = {"M": 1.0, "rho": 0.0, "m_rounds": 3.0, "w_mass": e * (2 - e)}
    return System(f"a node of mass {e:g}", values, math.sqrt(squared))


def exact_after_two() -> list[System]:
    """Return four nodes of the one-peer exponential graph: k = 2."""
    found = [
        System("4 nodes, gradients that one matrix does not average", {"k": 2, "M": m}, m)
        for m in _LENGTHS
    ]
    values = {"k": 2, "M": 1.0}
    return [
        *found,
        System("gradients of length 2 M", values, 2.0, frozenset({Requirement.SECOND_MOMENT})),
        System("no mixing", values, 100.0, frozenset({Requirement.EXACT_AFTER_K})),
    ]


def local_steps() -> list[System]:
    """Return nodes with gradients +M and -M between averagings."""
    found = [
        System(f"{h} local steps", {"H": h, "M": m}, (h - 1) * m)
        for h, m in itertools.product((1, 2, 5), _LENGTHS)
    ]
    values = {"H": 5, "M": 1.0}
    return [
        *found,
        System("gradients of length 2 M", values, 8.0, frozenset({Requirement.SECOND_MOMENT})),
        System("never averaged", values, 100.0, frozenset({Requirement.SYNCHRONOUS})),
    ]


def local_noise() -> list[System]:
    """Return independent noise on n nodes, H local steps."""
    found = [
        System(
            f"{n} nodes, {h} local steps",
            {"H": h, "n": n, "sigma": sigma},
            math.sqrt(sum(sigma**2 * (1 - 1 / n) for _ in range(h - 1))),
        )
        for h, n, sigma in itertools.product((2, 5), (2, 4), _LENGTHS)
    ]
    values = {"H": 5, "n": 4, "sigma": 1.0}
    lacking = (
        (Requirement.VARIANCE, "twice the noise", 2 * math.sqrt(3)),
        (Requirement.UNBIASED, "the same noise in every local step of a node", 4 * math.sqrt(0.75)),
        (Requirement.OBLIVIOUS, "averaging is put off while replicas drift apart", 10.0),
        (Requirement.SYNCHRONOUS, "never averaged", 10.0),
        (Requirement.LINEAR_LOSS, "a concave loss drives replicas apart", 10.0),
    )
    return [
        *found,
        *(System(text, values, gap, frozenset({which})) for which, text, gap in lacking),
    ]
