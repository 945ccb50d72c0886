"""What is claimed of a measured run: samples with a known range, each beside its theorem."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from elastic_consistency.bounds import Bound, Requirement, get
from elastic_consistency.execution import Measurement, Trace
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.optimization.oracles import AbstractOracle, Constants, LogisticRegression
from elastic_consistency.studies.elastic_families import Family, GapBound, Values
from elastic_consistency.validation import (
    Claim,
    Estimate,
    empirical_bernstein,
    student_t,
    supremum_of_means,
)

Measure = Callable[[float], Estimate]


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Constants on a ball around the minimiser, and what they limit.

    Attributes:
        constants: Of the problem on the ball.
        radius: Of the ball.
        start_distance: R0, distance of the start from the minimiser.
        start_excess: Delta = f(x_0) - f*.
        largest_gradient: Largest norm of one stochastic gradient on the ball; None if unknown.
    """

    constants: Constants
    radius: float
    start_distance: float
    start_excess: float
    largest_gradient: float | None

    def ceiling(self, bound: Bound, values: Values) -> float:
        """Largest value on the ball of what a bound speaks of; infinity where it is unknown."""
        if bound.quantity is Quantity.SQUARED_DISTANCE:
            return self.radius**2
        gradient = np.inf if self.largest_gradient is None else self.largest_gradient
        if bound.quantity is Quantity.MEAN_SQUARED_GRADIENT:
            return min(self.constants.smoothness * self.radius, gradient) ** 2
        return _with_gradient(bound, values, gradient)


def _with_gradient(bound: Bound, values: Values, gradient: float) -> float:
    """A bound of B that is proportional to M, with the largest gradient in its place."""
    if not np.isfinite(gradient) or values["M"] <= 0:
        return np.inf
    return bound.evaluate(values) * gradient / values["M"]


def limits_of(oracle: AbstractOracle, radius: float) -> Limits:
    """Limits of `oracle` on the ball of `radius` times the distance of the start.

    Raises:
        ValueError: If the minimiser is not known.
    """
    minimiser, start = oracle.minimiser(), oracle.start()
    constants = oracle.constants()
    if minimiser is None or constants.infimum is None:
        raise ValueError("A certificate needs an oracle whose minimiser is known.")
    distance = float(np.linalg.norm(start - minimiser))
    excess = float(oracle.loss(start[None])[0]) - constants.infimum
    largest = _largest_gradient(oracle, minimiser, radius * distance)
    return Limits(oracle.constants(radius * distance), radius * distance, distance, excess, largest)


def _largest_gradient(oracle: AbstractOracle, minimiser: np.ndarray, radius: float) -> float | None:
    """kappa max ||x_i|| + ridge (||x*|| + r): the residual p - y has norm at most kappa."""
    if not isinstance(oracle, LogisticRegression):
        return None
    kappa = 1.0 if oracle.n_classes == 2 else 2**0.5
    longest = float(np.linalg.norm(oracle.features, axis=1).max())
    return kappa * longest + oracle.ridge * (float(np.linalg.norm(minimiser)) + radius)


def gap_claim(
    trace: Trace,
    gap: GapBound,
    values: Values,
    limits: Limits,
    unmet: frozenset[Requirement],
    *,
    rounds: np.ndarray,
) -> Claim:
    """B is at most the bound, from the squared gaps of every replicate at every point.

    Args:
        trace: The gaps.
        gap: The bound.
        values: Number for each symbol.
        limits: What the ball allows.
        unmet: Requirements that are not met.
        rounds: (J,) round of each job, for bounds of the mean over the workers of a round.
    """
    bound = get(gap.name)
    ceiling = limits.ceiling(bound, values) if gap.every_path else np.inf
    squares = trace.values**2
    if gap.over_nodes:
        squares = mean_over_nodes(squares, rounds[trace.position])

    def estimate(confidence: float) -> Estimate:
        if not _fits(squares, ceiling**2):
            return _approximate(np.sqrt(squares.max(axis=0)), confidence)
        return supremum_of_means(
            squares, low=0.0, high=ceiling**2, confidence=confidence
        ).increasing(np.sqrt)

    return Claim(_labelled(estimate, bound, limits), bound, values, unmet)


def mean_over_nodes(values: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """(T, R) means over all points of each round, of (P, R) values."""
    _, position = np.unique(rounds, return_inverse=True)
    sums = np.zeros((int(position.max()) + 1, values.shape[1]))
    np.add.at(sums, position, values)
    return sums / np.bincount(position)[:, None]


def theorem_claims(
    measured: Measurement,
    family: Family,
    values: Values,
    limits: Limits,
    unmet: frozenset[Requirement],
) -> tuple[Claim, ...]:
    """The squared gradient on average and the squared distance at the end, of one sequence."""
    return tuple(
        _theorem_claim(get(name), measured, family, values, limits, unmet)
        for name in family.theorems
    )


def _theorem_claim(
    bound: Bound,
    measured: Measurement,
    family: Family,
    values: Values,
    limits: Limits,
    unmet: frozenset[Requirement],
) -> Claim:
    if bound.quantity is Quantity.MEAN_SQUARED_GRADIENT:
        trace = measured[f"squared_gradient_{family.sequence}"]
        samples = trace.mean
    else:
        trace = measured[f"squared_distance_{family.sequence}"]
        # The last point of the trace is x_{T-1}: the sequence has no view after the last read.
        samples, values = trace.last, values | {"T": values["T"] - 1}
    measure = _mean_of(samples, limits.ceiling(bound, values))
    return Claim(_labelled(measure, bound, limits), bound, values, unmet)


def _mean_of(samples: np.ndarray, ceiling: float) -> Measure:
    def estimate(confidence: float) -> Estimate:
        if not _fits(samples, ceiling):
            return _approximate(samples, confidence)
        return empirical_bernstein(samples, low=0.0, high=ceiling, confidence=confidence)

    return estimate


def _fits(samples: np.ndarray, ceiling: float) -> bool:
    """Whether the known range is known, and holds; it may fail outside of the ball only."""
    return bool(np.isfinite(ceiling) and samples.max() <= ceiling * (1 + 1e-9))


def _approximate(samples: np.ndarray, confidence: float) -> Estimate:
    return student_t(samples, confidence=confidence)


def _labelled(estimate: Measure, bound: Bound, limits: Limits) -> Measure:
    """What it measures, and the estimated constants that every verdict on it rests on.

    The family measures on the sequence of its bounds: the started sequence is the momentum and
    the error-corrected one of rules and codecs that have these, and the aggregate of rounds is
    the mean of replicas.
    """
    return lambda confidence: replace(
        estimate(confidence),
        quantity=bound.quantity,
        sequence=bound.sequence,
        conditional_on=limits.constants.estimated,
    )
