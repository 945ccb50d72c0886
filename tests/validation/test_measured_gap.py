"""A measured B comes with an interval of its supremum, not of its largest sample."""

import math

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.execution import Quantity, Sequence, Trace
from elastic_consistency.validation import Method, Outcome, judge, measured_gap, supremum_of_means


def _trace(values, *, count=None, quantity=Quantity.GAP):
    steps = len(values)
    return Trace(
        name="gap_started",
        quantity=quantity,
        sequence=Sequence.STARTED,
        time=np.arange(steps, dtype=float),
        position=np.arange(steps),
        values=values,
        mean=values.mean(axis=0),
        last=values[-1],
        peak=float(np.sqrt((values**2).mean(axis=1)).max()),
        count=steps if count is None else count,
    )


def _values(steps=4, replicates=2000):
    return np.random.default_rng(0).uniform(1, 2, size=(steps, replicates))


def test_a_measured_gap_is_the_root_of_the_supremum_of_mean_squares():
    values = _values()

    gap = measured_gap(_trace(values), largest=7, confidence=0.95, seed=3)

    squared = supremum_of_means(values**2, low=0, high=49, confidence=0.95)
    assert gap.value == pytest.approx(_trace(values).peak)
    assert (gap.lower, gap.upper) == pytest.approx(
        (math.sqrt(squared.lower), math.sqrt(squared.upper))
    )
    assert (gap.quantity, gap.sequence, gap.seed) == (Quantity.GAP, Sequence.STARTED, 3)


def test_a_trace_that_let_steps_go_is_not_called_consistent():
    """But what it still shows may refute a bound."""
    thinned = measured_gap(_trace(_values(), count=9), largest=7, confidence=0.95)

    assert thinned.upper == 7
    bound, values = get("server_started_gap"), {"M": 1.0, "n": 5}
    assert judge(thinned, bound, values, error_rate=0.05).outcome is Outcome.INCONCLUSIVE
    small = values | {"n": 2}
    assert judge(thinned, bound, small, error_rate=0.05).outcome is Outcome.VIOLATED


def test_a_measured_gap_may_be_looked_at_as_it_grows():
    gap = measured_gap(
        _trace(_values()), largest=7, confidence=0.95, method=Method.CONFIDENCE_SEQUENCE
    )

    assert gap.method is Method.CONFIDENCE_SEQUENCE
    assert gap.lower > 1


def test_a_gap_larger_than_the_largest_possible_is_refused():
    with pytest.raises(ValueError, match="samples must lie in"):
        measured_gap(_trace(_values()), largest=1.5, confidence=0.95)


def test_a_trace_of_something_else_is_refused():
    with pytest.raises(ValueError, match="trace must be of a gap"):
        measured_gap(_trace(_values(), quantity=Quantity.LOSS), largest=7, confidence=0.95)
