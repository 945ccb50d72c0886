"""Quadratics: divergence as printed, oscillation, stability against the proxy, signed variant."""

import math

import numpy as np

from elastic_consistency.execution import DivergenceError, execute
from elastic_consistency.execution.probes import Loss
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import GEM, HeavyBall, PrintedGEM, SignedGEM
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import AbstractDelayLaw, Constant, Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer, EnergyMatchingServer
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
    near,
    over_seeds,
    reproduced,
    share_of_seeds,
)

_SPECTRUM = np.linspace(0.1, 1.0, 20)


def _schedule(n: int, rounds: int, seed: int, law: AbstractDelayLaw, *, ahead: bool) -> Schedule:
    protocol = EnergyMatchingServer(ahead=ahead)
    return simulate(protocol, Cluster.alike(n, law), until=Until(jobs=n * rounds), seed=seed)


def _stays(schedule: Schedule, oracle: Quadratic, rule: AbstractRule, seed: int) -> bool:
    """Whether no coordinate ends ten times as far from the minimum as it began."""
    try:
        model = execute(schedule, oracle, rule, seeds=(seed,)).models[0]
    except DivergenceError:
        return False
    return bool(np.abs(model).max() < 10)


def _noisy_run_stays(rule: AbstractRule, n: int, variance: float, seed: int) -> bool:
    schedule = _schedule(n, 100, seed, Exponential(1.0), ahead=False)
    return _stays(schedule, Quadratic(_SPECTRUM, variance=variance), rule, seed)


def as_printed(effort: Effort, _value: PaperValue) -> Finding:
    """Algorithm 1 with and without a clamp at 0, with and without noise."""
    seeds = range(effort.pick(3, 20))
    cases = [(n, v, s) for n in (5, 20) for v in (0.0, 1.0) for s in seeds]
    rules = (PrintedGEM(0.05), PrintedGEM(0.05, clamp=(0.0, math.inf)))
    printed, clamped = (sum(_noisy_run_stays(rule, n, v, s) for n, v, s in cases) for rule in rules)
    return reproduced(
        (
            share_of_seeds("stable as printed", printed, len(cases)),
            share_of_seeds("stable with pi >= 0", clamped, len(cases)),
        ),
        (
            Feature(
                "algorithm 1 as printed is stable",
                printed == len(cases),
                f"{printed} of {len(cases)} runs",
            ),
            Feature(
                "a clamp of pi at 0 alone makes it stable",
                clamped == len(cases),
                f"{clamped} of {len(cases)} runs",
            ),
        ),
        scale=f"20-d quadratic, curvature .1 to 1, eta = .05, mu = .9, n = 5 and 20, with and "
        f"without noise, {len(seeds)} seeds",
        why="where others moved a coordinate by more than |m|, pi < 0 and the commit climbs; the "
        "authors' program clamps pi to [0, 5], which the paper does not print",
    )


def oscillation(_effort: Effort, _value: PaperValue) -> Finding:
    """Constant gradient, workers in turn: speed and period."""
    counts = (1, 2, 5, 10)
    speeds, periods = zip(*(_speed_and_period(n) for n in counts), strict=True)
    return reproduced(
        tuple(computed(f"speed / proxy, n = {n}", s) for n, s in zip(counts, speeds, strict=True)),
        (
            *(
                near(f"speed n / (n + 1) at n = {n}", s, n / (n + 1), 1e-3)
                for n, s in zip(counts, speeds, strict=True)
            ),
            Feature(
                "commits repeat with period n + 1, and not n",
                all(p == n + 1 for p, n in zip(periods, counts, strict=True)),
                f"{periods}",
            ),
        ),
        scale="linear loss, workers in turn, after the transient; PrintedGEM with pi >= 0",
        why="|theta - s| contains the worker's own last commit, which the paper's energies do not",
    )


def _speed_and_period(n: int) -> tuple[float, int]:
    """Mean speed a round relative to the proxy's, and the smallest period of the commits."""
    # A trace keeps up to 1023 observations, and all of them are needed.
    schedule = _schedule(n, 900 // n, 0, Constant(1.0), ahead=False)
    rule = PrintedGEM(0.1, 0.9, clamp=(0.0, math.inf))
    traced = execute(schedule, Linear(np.ones(1)), rule, seeds=(0,), probes=(Loss(),))
    commits = np.diff(traced["loss"].values[:, 0])
    late = commits[3 * len(commits) // 4 :]
    whole = late[: len(late) // (n * (n + 1)) * n * (n + 1)]
    speed = -float(whole.mean()) * n / (0.1 / (1 - 0.9))
    gaps = [float(np.abs(late[k:] - late[:-k]).max()) for k in range(1, 2 * n + 3)]
    size = float(np.abs(late).max())
    period = next((k + 1 for k, gap in enumerate(gaps) if gap < 1e-3 * size), 0)
    return speed, period


def against_proxy(effort: Effort, _value: PaperValue) -> Finding:
    """Largest stable step on a grid, for GEM and its proxy."""
    grid, seeds = (0.3, 0.6, 1.0, 1.5, 2.0, 3.0), range(effort.pick(2, 10))
    alone, quadratic = _sequential(), Quadratic(np.ones(1))
    proxy = max(e for e in grid if _stays(alone, quadratic, HeavyBall(e, 0.9), 0))
    limits = {
        n: max((e for e in grid if all(_matched_run_stays(e, n, s) for s in seeds)), default=0.0)
        for n in (1, 5, 20)
    }
    return reproduced(
        (
            computed("proxy, largest stable step of the grid", proxy),
            *(computed(f"GEM, n = {n}", limit) for n, limit in limits.items()),
        ),
        (at_least("GEM with n = 20 is stable wherever the proxy is", limits[20], proxy),),
        scale=f"f(x) = x^2 / 2, grid {grid}, exponential times, {len(seeds)} seeds",
        why="pi = 0 cannot undo what others did, so the stability condition is violated on most "
        "commits; the limit falls with n",
    )


def _sequential() -> Schedule:
    """600 steps of one worker."""
    cluster = Cluster.alike(1, Constant(1.0))
    return simulate(AsynchronousServer(), cluster, until=Until(jobs=600), seed=0)


def _matched_run_stays(step: float, n: int, seed: int) -> bool:
    schedule = _schedule(n, 150, seed, Exponential(1.0), ahead=True)
    return _stays(schedule, Quadratic(np.ones(1)), GEM(step), seed)


def signed_variant(effort: Effort, _value: PaperValue) -> Finding:
    """Noise floor of the signed variant, the authors' program and the sequential proxy."""
    seeds = tuple(range(effort.pick(8, 40)))
    floors = {}
    for n in (5, 20):
        schedule = _schedule(n, effort.pick(120, 400), 0, Exponential(1.0), ahead=True)
        for name, rule in (("signed", SignedGEM(0.05)), ("as programmed", GEM(0.05))):
            floors[name, n] = _floor(schedule, rule, seeds)
    proxy = _floor(_sequential(), HeavyBall(0.05, 0.9), seeds)
    return in_shape(
        (
            *(over_seeds(f"{name}, n = {n}", floor) for (name, n), floor in floors.items()),
            over_seeds("sequential momentum", proxy),
        ),
        (
            *(
                at_most(
                    f"n = {n}: signed / as programmed",
                    _ratio(floors["signed", n], floors["as programmed", n]),
                    1.0,
                )
                for n in (5, 20)
            ),
            at_most(
                "the signed floor falls from n = 5 to 20",
                _ratio(floors["signed", 20], floors["signed", 5]),
                1.0,
            ),
            at_most(
                "and lies below the sequential proxy's: n = 20",
                _ratio(floors["signed", 20], proxy),
                0.5,
            ),
        ),
        scale=f"20-d quadratic, sigma^2 = 1, eta = .05, mu = .9, {len(seeds)} seeds, mean loss of "
        "the second half",
        why="a proposal of ours: the energies also match where the others moved the other way",
    )


def _floor(schedule: Schedule, rule: AbstractRule, seeds: tuple[int, ...]) -> np.ndarray:
    """(R,) mean loss over the second half of the run."""
    oracle = Quadratic(_SPECTRUM, variance=1.0)
    traced = execute(schedule, oracle, rule, seeds=seeds, probes=(Loss(every=5),))["loss"]
    return traced.values[len(traced.values) // 2 :].mean(axis=0)


def _ratio(first: np.ndarray, second: np.ndarray) -> float:
    return float(first.mean() / second.mean())


CLAIMS = (
    PaperClaim(
        "gem-as-printed",
        Paper.ENERGY,
        "Algorithm 1 keeps the energy below that of a stable target and so is stable.",
        PaperValue(
            "convergence is guaranteed by the target's dynamics",
            "section 3, algorithm 1",
            Status.READ,
        ),
        as_printed,
        seconds=20.0,
    ),
    PaperClaim(
        "gem-oscillation",
        Paper.ENERGY,
        "In turn GEM moves at n / (n + 1) of the proxy's speed, with period n + 1.",
        PaperValue(".5, .6667, .8333, .9091 for n = 1, 2, 5, 10", "derived here", Status.DERIVED),
        oscillation,
        whole=True,
        seconds=2.0,
    ),
    PaperClaim(
        "gem-stable-as-proxy",
        Paper.ENERGY,
        "GEM is stable whenever its proxy is.",
        PaperValue("stable for every step at which momentum SGD is", "section 3", Status.READ),
        against_proxy,
        seconds=15.0,
    ),
    PaperClaim(
        "gem-signed",
        Paper.ENERGY,
        "Minding the sign of theta - s lowers the noise floor (not in the paper).",
        PaperValue(
            "floors fall with n, below the sequential proxy's", "derived here", Status.DERIVED
        ),
        signed_variant,
        seconds=15.0,
    ),
)
