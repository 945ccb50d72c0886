"""What is said of a measured run: samples with a known range, each beside its bounds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from elastic_consistency.bounds import Bound, Requirement
from elastic_consistency.execution import Measurement, Trace
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.optimization.compression import Identity
from elastic_consistency.studies.judging.agenda import Agenda, Measured
from elastic_consistency.validation import (
    Estimate,
    Verdict,
    empirical_bernstein,
    judge,
    student_t,
    supremum_of_means,
)
from elastic_consistency.validation.contraction import is_deterministic
from elastic_consistency.validation.gaps import aligned_gap

Measure = Callable[[float], Estimate]

# Where a bound needs none of these, it holds on every path, with the largest gradient as M.
_OF_LAWS = frozenset(
    {Requirement.UNBIASED, Requirement.VARIANCE, Requirement.OBLIVIOUS, Requirement.ELASTIC}
)


def verdicts_of(
    agenda: Agenda, measured: Measurement, missing: frozenset[Requirement], *, error_rate: float
) -> tuple[Verdict, ...]:
    """One verdict a bound; any true bound is called violated with at most `error_rate`.

    Bounds of the same figure share its interval: they are wrong together or not at all, so that
    the error rate is shared by the figures.

    Args:
        agenda: What is judged.
        measured: The run.
        missing: Requirements that are not met.
        error_rate: Of all verdicts together, in (0, 1).
    """
    figures = dict.fromkeys(agenda.measured(bound) for bound in agenda.bounds)
    share = error_rate / len(figures)
    found = {what: _measure(agenda, measured, what)(1 - share) for what in figures}
    return tuple(
        judge(
            found[agenda.measured(bound)],
            bound,
            _values(agenda, bound),
            error_rate=share,
            unmet=missing,
        )
        for bound in agenda.bounds
    )


def _values(agenda: Agenda, bound: Bound) -> dict[str, float]:
    if bound.quantity is Quantity.SQUARED_DISTANCE:
        # The last point of the trace is x_{T-1}: the sequence has no view after the last read.
        return agenda.values | {"T": agenda.values["T"] - 1}
    return agenda.values


def _measure(agenda: Agenda, measured: Measurement, what: Measured) -> Measure:
    limits, trace = agenda.situation.limits, measured[what.trace]
    if what.quantity is Quantity.GAP:
        rounds = agenda.situation.schedule.jobs.round
        squares = squared_gaps(trace, rounds, over_nodes=what.over_nodes)
        estimate = supremum_of_gaps(squares, ceilings(agenda, what))
    else:
        last = what.quantity is Quantity.SQUARED_DISTANCE
        samples = trace.last if last else trace.mean
        estimate = _mean_of(samples, limits.ceiling(what.quantity))
    estimated = limits.constants.estimated
    return lambda confidence: replace(
        estimate(confidence), quantity=what.quantity, conditional_on=estimated
    )


def ceilings(agenda: Agenda, what: Measured) -> tuple[float, ...]:
    """No gap can be larger than any of these, the smallest first; () where nothing is known.

    The schedule alone limits those of additive rules without compression; a bound of B that holds
    on every path does so with the largest gradient in the place of M.
    """
    situation, longest = agenda.situation, agenda.situation.limits.largest_gradient
    if longest is None or not is_deterministic(situation.contender.codec, situation.dimension):
        return ()
    rule, codec = situation.contender.rule, situation.contender.codec
    found = [
        bound.evaluate(agenda.values | _with_moment(agenda, longest))
        for bound in agenda.known
        if bound.proof is not None and agenda.measured(bound) == what
        if bound.requirements.isdisjoint(_OF_LAWS - _harmless(bound))
        if not agenda.obstacles(bound, agenda.values)
    ]
    if rule.additive and rule.constant_step and isinstance(codec, Identity):
        found.append(longest * aligned_gap(situation.difference(what.order)))
    return tuple(sorted(found))


def _with_moment(agenda: Agenda, longest: float) -> dict[str, float]:
    """Constants that are proportional to M, for gradients that are never longer than this."""
    moment = agenda.values["M"]
    scaled = {name: agenda.values.get(name, 0.0) * longest / moment for name in ("B_1", "B_2")}
    return ({"M": longest} | scaled) if moment > 0 else {"M": longest}


def _harmless(bound: Bound) -> frozenset[Requirement]:
    """ELASTIC is about every path where the parts of a bound are themselves proportional to M."""
    parts = {symbol.name for symbol in bound.symbols} <= {"B_1", "B_2"}
    return frozenset({Requirement.ELASTIC}) if parts else frozenset()


def squared_gaps(trace: Trace, rounds: np.ndarray, *, over_nodes: bool) -> np.ndarray:
    """(P, R) squared gaps, or their means over the nodes of each round."""
    squares = trace.values**2
    return mean_over_nodes(squares, rounds[trace.position]) if over_nodes else squares


def supremum_of_gaps(squares: np.ndarray, ceilings: tuple[float, ...]) -> Measure:
    """The largest root of a mean, with an interval that is proved where the range is known.

    Args:
        squares: (P, R) squared gaps.
        ceilings: No gap can be larger than any of these, the smallest first.
    """
    fitting = [ceiling for ceiling in ceilings if _fits(squares, ceiling**2)]

    def estimate(confidence: float) -> Estimate:
        if not fitting:
            return _approximate(np.sqrt(squares.max(axis=0)), confidence)
        return supremum_of_means(
            squares, low=0.0, high=fitting[0] ** 2, confidence=confidence
        ).increasing(np.sqrt)

    return estimate


def mean_over_nodes(values: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """(T, R) means over all points of each round, of (P, R) values."""
    _, position = np.unique(rounds, return_inverse=True)
    sums = np.zeros((int(position.max()) + 1, values.shape[1]))
    np.add.at(sums, position, values)
    return sums / np.bincount(position)[:, None]


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
