"""Systems on the one-dimensional quadratic (curvature / 2) x^2, solved exactly.

Mean and variance of the iterate are propagated, so an expected square is exact.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement


@final
@dataclass(frozen=True, slots=True)
class Descent:
    """SGD x <- x - alpha (curvature (x - offset) + noise) from x = start.

    Attributes:
        curvature: Second derivative, > 0.
        alpha: Step size, > 0.
        start: First iterate.
        steps: Number of steps.
        offset: x - v, the same at every step.
        noise: Standard deviation of the noise of a step.
        bias: Factor on the mean gradient; 1 is unbiased.
    """

    curvature: float
    alpha: float
    start: float
    steps: int
    offset: float = 0.0
    noise: float = 0.0
    bias: float = 1.0

    def moments(self) -> list[tuple[float, float]]:
        """Return mean and variance of x_0, ..., x_T."""
        mean, variance = self.start, 0.0
        found = [(mean, variance)]
        shrink = 1 - self.alpha * self.bias * self.curvature
        for _ in range(self.steps):
            mean = shrink * mean + self.alpha * self.bias * self.curvature * self.offset
            variance = shrink**2 * variance + (self.alpha * self.noise) ** 2
            found.append((mean, variance))
        return found

    def mean_squared_gradient(self) -> float:
        """Return the average over t < T of E|grad f(x_t)|^2."""
        squares = [mean**2 + variance for mean, variance in self.moments()[:-1]]
        return self.curvature**2 * sum(squares) / self.steps

    def mean_squared_gradient_at_views(self) -> float:
        """Return the average over t < T of E|grad f(v_t)|^2."""
        squares = [(mean - self.offset) ** 2 + v for mean, v in self.moments()[:-1]]
        return self.curvature**2 * sum(squares) / self.steps

    def suboptimality_at_views(self) -> float:
        """Return the average over t < T of E f(v_t) - f*."""
        return self.mean_squared_gradient_at_views() / (2 * self.curvature)

    def squared_distance(self) -> float:
        """Return E|x_T - x*|^2."""
        mean, variance = self.moments()[-1]
        return mean**2 + variance

    def values(self) -> dict[str, float]:
        """Return the symbols that describe the descent."""
        return {
            "L": self.curvature,
            "c": self.curvature,
            "alpha": self.alpha,
            "alpha_0": self.alpha * math.sqrt(self.steps),
            "T": self.steps,
            "Delta": self.curvature * self.start**2 / 2,
            "R0": abs(self.start),
            "B": abs(self.offset) / self.alpha,
            "sigma": self.noise,
            "M": math.sqrt(self._largest_second_moment()),
        }

    def _largest_second_moment(self) -> float:
        squares = max((mean - self.offset) ** 2 + v for mean, v in self.moments()[:-1])
        return self.curvature**2 * squares + self.noise**2


def _grid(limit: float) -> list[Descent]:
    """Return descents at steps of 1, 1/10 and 1/100 of `limit` / curvature and a tenth above."""
    found = []
    for curvature in (0.25, 1.0, 4.0):
        for share in (1.0, 0.1, 0.01):
            alpha = share * limit / curvature
            for size in (0.5, 2.0):
                found += [
                    Descent(curvature, alpha, size, 1),
                    Descent(curvature, alpha, size, 3),
                    Descent(curvature, alpha, 0.0, 3000, noise=size),
                    Descent(curvature, alpha, size, 3000, offset=size),
                    Descent(curvature, alpha, 10 * size, 3, offset=size, noise=size),
                ]
        found.append(Descent(curvature, 1.099 * limit / curvature, 1.0, 1))
    return found


def descents(
    bound: Bound,
    measure: Callable[[Descent], float],
    *,
    limit: float,
    extra: dict[str, float] | None = None,
    convexity: float = 1.0,
) -> list[System]:
    """Return quadratics for a convergence bound, legal ones and some that lack something.

    Args:
        bound: The bound.
        measure: The quantity that it bounds.
        limit: Largest step size that is tried, in units of 1 / L.
        extra: Values of further symbols.
        convexity: c in units of L; the quadratic has curvature L.
    """
    further = extra or {}
    elastic = Requirement.ELASTIC in bound.requirements
    exact = Requirement.NOISE_FREE in bound.requirements
    found = []
    for d in _grid(limit):
        lacks = frozenset({Requirement.NOISE_FREE}) if exact and d.noise else frozenset()
        if elastic or not d.offset:
            values = _flattened(d.values() | further, convexity)
            found.append(System("quadratic", values, measure(d), lacks))
    lacking = (
        System(text, _flattened(values | further, convexity), measure(d), frozenset({which}))
        for which, text, d, values in _illegal(limit)
        if which in bound.requirements
    )
    return [*found, *lacking]


def _flattened(values: dict[str, float], convexity: float) -> dict[str, float]:
    return values | {"c": convexity * values["c"]}


def _illegal(limit: float) -> list[tuple[Requirement, str, Descent, dict[str, float]]]:
    small = 0.01 * limit
    still = Descent(1.0, small, 1.0, 20000, bias=1e-9)
    noisy = Descent(1.0, limit, 0.0, 3000, noise=10.0)
    gap = Descent(1.0, limit, 10.0, 3000, offset=10.0)
    first = Descent(1.0, limit, 0.0, 1, offset=100.0)
    steep = Descent(100.0, limit, 1.0, 1)
    reached = Descent(1.0, small, 1.0, 1)
    slow = replace(still, alpha=small * 1e-9, bias=1.0)
    return [
        (Requirement.UNBIASED, "the oracle returns almost nothing", still, still.values()),
        (Requirement.VARIANCE, "noise of 10 sigma", noisy, noisy.values() | {"sigma": 1.0}),
        (Requirement.ELASTIC, "gap of 10 alpha B", gap, gap.values() | {"B": 1.0 / limit}),
        (Requirement.ELASTIC, "gap of 100 alpha B", first, first.values() | {"B": 1.0 / limit}),
        (
            Requirement.SMOOTH,
            "curvature 100 L",
            steep,
            steep.values() | _like(Descent(1.0, limit, 1.0, 1)),
        ),
        (
            Requirement.LOWER_BOUNDED,
            "f* is above the infimum",
            reached,
            reached.values() | {"Delta": 0.0},
        ),
        (Requirement.CONSTANT_STEP_SIZE, "step sizes 1e-9 of the first", slow, still.values()),
        (Requirement.STRONGLY_CONVEX, "curvature c / 1000", *_flat(small)),
        (Requirement.SECOND_MOMENT, "noise of 10 M", noisy, noisy.values() | {"M": 1.0}),
    ]


def _like(descent: Descent) -> dict[str, float]:
    return {"L": descent.curvature, "c": descent.curvature, "Delta": descent.values()["Delta"]}


def _flat(alpha: float) -> tuple[Descent, dict[str, float]]:
    flat = Descent(1e-3, alpha, 1.0, 2000)
    return flat, flat.values() | {"L": 1.0, "c": 1.0, "Delta": 1.0}
