"""Systems that break one requirement of one convergence bound."""

from elastic_consistency.bounds.counterexamples.descents import Descent
from elastic_consistency.bounds.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement


def plateau() -> list[System]:
    """Return a start on a flat part of height 1 at distance 3 of the minimiser."""
    values = {"L": 1.0, "alpha": 0.25, "T": 1000, "R0": 3.0, "B": 0.0, "sigma": 0.0}
    lacking = frozenset({Requirement.CONVEX})
    return [System("zero gradient on a plateau of height 1", values, 1.0, lacking)]


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
