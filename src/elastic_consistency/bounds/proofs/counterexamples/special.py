"""Systems that reach one term, or break one requirement, of one convergence bound."""

import itertools

from elastic_consistency.bounds.proofs.counterexamples.descents import Descent
from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement


def plateau() -> list[System]:
    """Return a start on a flat part of height 1 at distance 3 of the minimiser."""
    values = {"L": 1.0, "alpha": 0.25, "T": 1000, "R0": 3.0, "B": 0.0, "sigma": 0.0}
    lacking = frozenset({Requirement.CONVEX})
    return [System("zero gradient on a plateau of height 1", values, 1.0, lacking)]


def swinging_gaps(extra: dict[str, float], *, convex: bool = False) -> list[System]:
    """Return (curvature / 2) x^2 with a gap that changes its sign: x swings with it, x+ = -x.

    Args:
        extra: Values of further symbols.
        convex: Whether the suboptimality at the views is measured at small steps; else the
            squared distance is, at alpha = 2 / (L + c).
    """
    found = []
    for curvature, ratio, constant in itertools.product((1e-3, 1.0, 4.0), (2.0, 8.0), (0.5, 2.0)):
        c = curvature / ratio
        alpha = 1e-3 * ratio / curvature if convex else 2 / (curvature + c)
        gap = alpha * constant
        swing = alpha * curvature * gap / (2 - alpha * curvature)
        values = {"L": curvature, "c": c, "alpha": alpha, "T": 10**6, "B": constant}
        values |= {"R0": swing, "sigma": 0.0} | extra
        height = curvature * (swing + gap) ** 2 / 2
        found.append(System("a gap of alternating sign", values, height if convex else swing**2))
    return found


def rounded_cones() -> list[System]:
    """Return slope |x|, rounded within slope / L of 0: the descent walks straight to the tip."""
    found = []
    for alpha, steps, slope in itertools.product((0.1, 0.5), (1000, 2000), (0.5, 2.0)):
        start = slope * (alpha * steps + 1.0)
        height = slope * (start - slope * alpha * (steps - 1) / 2) - slope**2 / 2
        values = {"L": 1.0, "alpha": alpha, "T": steps, "R0": start, "B": 0.0, "sigma": 0.0}
        found.append(System("a cone with a rounded tip", values, height))
    return found


def common_noise(extra: dict[str, float], *, limit: float, distance: bool = False) -> list[System]:
    """Return four nodes that share one noise, so that averaging does not shrink it."""
    descent = Descent(1.0, limit, 0.0, 3000, noise=1.0)
    measured = descent.squared_distance() if distance else descent.mean_squared_gradient()
    values = descent.values() | {"p": 1e3, "w_min": 1.0} | extra
    return [
        System("all nodes have the same noise", values, measured, frozenset({which}))
        for which in (Requirement.OBLIVIOUS, Requirement.SYNCHRONOUS)
    ]


def codec_without_memory(extra: dict[str, float]) -> list[System]:
    """Return codecs that never send one coordinate, in which the gradient stays 1."""
    values = {"L": 1.0, "alpha": 1e-3, "T": 10**6, "Delta": 0.5, "sigma": 2.0, "gamma": 0.5}
    nothing = values | {"sigma": 0.0, "gamma": 0.0}
    return [
        System(
            "largest of two coordinates, noise of 2 in the first, no error feedback",
            values | extra,
            1.0,
            frozenset({Requirement.ERROR_FEEDBACK}),
        ),
        System(
            "a codec that sends nothing", nothing | extra, 1.0, frozenset({Requirement.CONTRACTION})
        ),
    ]


def too_stale(*, alpha: float, staleness: int, extra: dict[str, float]) -> list[System]:
    """Return the quadratic with a fixed staleness beyond the bound: iterates grow."""
    iterates = [1.0] * (staleness + 1)
    for _ in range(500):
        iterates.append(iterates[-1] - alpha * iterates[-1 - staleness])
    squares = [x**2 for x in iterates[staleness:-1]]
    values = {"L": 1.0, "alpha": alpha, "T": len(squares), "Delta": 0.5, "sigma": 0.0}
    lacking = frozenset({Requirement.BOUNDED_STALENESS})
    measured = sum(squares) / len(squares)
    return [System(f"staleness {staleness}", values | extra, measured, lacking)]
