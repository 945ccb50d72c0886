"""Pairing removes what two algorithms share; ratios have honest intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.validation import (
    mean_over_timing,
    paired_difference,
    ratio_of_means,
    saving,
    student_t,
)

TIMES = st.lists(st.floats(1, 10), min_size=3, max_size=20)


def test_a_shared_disturbance_leaves_a_paired_difference_alone():
    shared = np.array([0.0, 100.0, -50.0, 7.0])
    first, second = np.array([3.0, 4.0, 5.0, 4.0]), np.array([1.0, 2.0, 2.0, 1.0])

    disturbed = paired_difference(first + shared, second + shared, confidence=0.9)
    alone = student_t(first - second, confidence=0.9)

    assert disturbed.lower == pytest.approx(alone.lower)
    assert disturbed.upper == pytest.approx(alone.upper)


def test_half_the_time_is_a_saving_of_one_half_without_doubt():
    baseline = np.array([10.0, 20.0, 15.0])

    found = saving(baseline / 2, baseline)

    assert (found.lower, found.value, found.upper) == pytest.approx((0.5, 0.5, 0.5))


def test_a_slower_method_has_a_negative_saving():
    assert saving(np.array([2.0, 2.2, 2.1]), np.array([1.0, 1.1, 1.0])).upper < 0


@given(TIMES, st.integers(0, 10**6))
def test_the_ends_of_a_ratio_are_where_the_t_test_just_rejects(times, seed):
    second = np.array(times) + 20
    first = np.random.default_rng(seed).uniform(1, 5, len(times))

    ratio = ratio_of_means(first, second, confidence=0.9)

    for end in (ratio.lower, ratio.upper):
        difference = student_t(first - end * second, confidence=0.9)
        assert min(abs(difference.lower), abs(difference.upper)) <= 1e-6


def test_a_ratio_to_a_mean_that_may_be_zero_is_unbounded():
    ratio = ratio_of_means(np.array([1.0, 1.0, 1.1]), np.array([-1.0, 1.0, 3.0]))

    assert (ratio.lower, ratio.upper) == (-math.inf, math.inf)


def test_a_run_that_never_reached_the_target_has_no_saving():
    with pytest.raises(ValueError, match="samples must be finite, got 1 that are not"):
        saving(np.array([1.0, math.inf]), np.array([1.0, 2.0]))


def test_pairs_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"got shapes \(2,\) and \(3,\)"):
        paired_difference(np.zeros(2), np.zeros(3))


def test_replicates_of_one_schedule_count_once():
    """Two schedules, replicated a hundred times each, are two observations of the timing law."""
    by_schedule = np.array([1.0, 3.0])

    figure = mean_over_timing(np.repeat(by_schedule[:, None], 100, axis=1), confidence=0.95)

    assert figure.upper - 2 == pytest.approx(math.tan(math.pi * 0.475))
    assert (figure.n_schedules, figure.n_replicates) == (2, 100)
