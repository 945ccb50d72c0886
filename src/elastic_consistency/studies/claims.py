"""What is claimed of a measured run: samples with a known range, each beside its theorem."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from elastic_consistency.bounds import Bound, Requirement, get
from elastic_consistency.execution import Measurement, Trace
from elastic_consistency.optimization.oracles import AbstractOracle, Constants, LogisticRegression
from elastic_consistency.validation import (
    Claim,
    Estimate,
    empirical_bernstein,
    student_t,
    supremum_of_means,
)

Values = dict[str, float]
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

    def ceilings(self, values: Values) -> dict[str, float]:
        """Largest value on the ball of what each theorem bounds."""
        gradient = np.inf if self.largest_gradient is None else self.largest_gradient
        slope = min(self.constants.smoothness * self.radius, gradient)
        return {
            "server_started_gap": values["c_jobs"] * gradient,
            "server_applied_gap": values["tau_max"] * gradient,
            "nonconvex_single_step": slope**2,
            "strongly_convex_single_step": self.radius**2,
        }


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
    trace: Trace, bound: Bound, values: Values, limits: Limits, unmet: frozenset[Requirement]
) -> Claim:
    """B is at most `bound`, from the squared gaps of every replicate at every point."""
    ceiling = limits.ceilings(values)[bound.name]
    squares = trace.values**2

    def estimate(confidence: float) -> Estimate:
        if not _fits(squares, ceiling**2):
            return _approximate(np.sqrt(squares.max(axis=0)), confidence)
        return supremum_of_means(
            squares, low=0.0, high=ceiling**2, confidence=confidence
        ).increasing(np.sqrt)

    return Claim(_labelled(estimate, trace, limits), bound, values, unmet)


def theorem_claims(
    measured: Measurement, values: Values, limits: Limits, unmet: frozenset[Requirement]
) -> tuple[Claim, ...]:
    """NC1 of the squared gradient and SC1 of the squared distance, on the started sequence."""
    ceilings = limits.ceilings(values)
    gradient, distance = measured["squared_gradient_started"], measured["squared_distance_started"]
    # The last point of the trace is x_{T-1}: the sequence has no view after the last read.
    shorter = values | {"T": values["T"] - 1}
    rows = (
        ("nonconvex_single_step", gradient.mean, gradient, values),
        ("strongly_convex_single_step", distance.last, distance, shorter),
    )
    return tuple(
        Claim(
            _labelled(_mean_of(samples, ceilings[name]), trace, limits),
            get(name),
            at,
            unmet,
        )
        for name, samples, trace, at in rows
    )


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


def _labelled(estimate: Measure, trace: Trace, limits: Limits) -> Measure:
    """What it measures, and the estimated constants that every verdict on it rests on."""
    return lambda confidence: replace(
        estimate(confidence),
        quantity=trace.quantity,
        sequence=trace.sequence,
        conditional_on=limits.constants.estimated,
    )
