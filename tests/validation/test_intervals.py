"""Intervals equal their papers' formulas and refuse what they cannot speak about."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.validation import (
    Method,
    bootstrap,
    confidence_sequence,
    empirical_bernstein,
    exact,
    largest,
    proportion_limits,
    student_t,
    supremum_of_means,
)

SAMPLES = st.lists(st.floats(0, 1), min_size=2, max_size=40).map(np.array)


def _capital(samples, claim, error_rate):
    """Largest capital so far against "the mean is at most `claim`", one bet at a time."""
    capital = most = 1.0
    seen, spread = [], []
    for sample in samples:
        count = len(seen) + 1
        variance = (0.25 + sum(spread)) / count
        bet = math.sqrt(2 * math.log(2 / error_rate) / (variance * count * math.log(count + 1)))
        capital *= 1 + min(bet, 0.5 / claim) * (sample - claim)
        most = max(most, capital)
        seen.append(sample)
        spread.append((sample - (0.5 + sum(seen)) / (count + 1)) ** 2)
    return most


def test_empirical_bernstein_is_the_formula_of_maurer_and_pontil():
    samples = np.tile([0.0, 1.0], 50)
    logarithm = math.log(2 / 0.025)  # each side has half of 5 %

    estimate = empirical_bernstein(samples, low=0, high=1, confidence=0.95)

    radius = math.sqrt(2 * (25 / 99) * logarithm / 100) + 7 * logarithm / (3 * 99)
    assert estimate.value == 0.5
    assert estimate.upper == pytest.approx(0.5 + radius, rel=1e-12)
    assert estimate.lower == pytest.approx(0.5 - radius, rel=1e-12)


def test_empirical_bernstein_of_constants_has_the_range_term_alone():
    estimate = empirical_bernstein(np.full(101, 2.0), low=-8, high=12, confidence=0.95)

    assert estimate.upper - 2 == pytest.approx(20 * 7 * math.log(80) / 300, rel=1e-12)


@given(SAMPLES)
def test_betting_excludes_exactly_the_claims_against_which_one_became_rich(samples):
    lower = confidence_sequence(samples, low=0, high=1, confidence=0.9).lower

    if lower > 1e-9:
        assert _capital(samples, lower * (1 - 1e-9), 0.1) >= 20 * (1 - 1e-6)
    if lower + 1e-9 < samples.mean():
        assert _capital(samples, lower + 1e-9, 0.1) < 20 * (1 + 1e-6)


@given(SAMPLES)
def test_a_confidence_sequence_never_takes_back_what_it_excluded(samples):
    lowers = [
        confidence_sequence(samples[:n], low=0, high=1, confidence=0.9).lower
        for n in range(1, len(samples) + 1)
    ]

    means = [samples[:n].mean() for n in range(1, len(samples) + 1)]
    # The reported end is pulled down to the mean where the intersection has left it.
    assert all(
        later >= min(former, mean) - 1e-12
        for former, later, mean in zip(lowers, lowers[1:], means[1:], strict=False)
    )


@pytest.mark.parametrize("interval", [empirical_bernstein, confidence_sequence])
@given(samples=SAMPLES, scale=st.floats(0.1, 100), shift=st.floats(-50, 50))
def test_bounded_intervals_move_with_the_scale(interval, samples, scale, shift):
    unit = interval(samples, low=0, high=1, confidence=0.95)
    moved = interval(shift + scale * samples, low=shift, high=shift + scale, confidence=0.95)

    assert moved.lower == pytest.approx(shift + scale * unit.lower, abs=1e-6 * scale)
    assert moved.upper == pytest.approx(shift + scale * unit.upper, abs=1e-6 * scale)


@pytest.mark.parametrize("interval", [empirical_bernstein, confidence_sequence])
@given(samples=SAMPLES)
def test_bounded_intervals_are_the_same_from_both_sides(interval, samples):
    estimate = interval(samples, low=0, high=1, confidence=0.95)
    mirrored = interval(1 - samples, low=0, high=1, confidence=0.95)

    assert mirrored.lower == pytest.approx(1 - estimate.upper, abs=1e-9)


@pytest.mark.parametrize("interval", [empirical_bernstein, confidence_sequence])
def test_a_sample_outside_the_claimed_range_is_refused(interval):
    with pytest.raises(ValueError, match=r"samples must lie in \[0, 1\], got 0\.5 to 1\.5"):
        interval(np.array([0.5, 1.5, 0.7]), low=0, high=1, confidence=0.95)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_samples_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="samples must be finite, got 1 that are not"):
        student_t(np.array([1.0, bad]), confidence=0.95)


def test_student_t_of_two_replicates_is_the_cauchy_quantile():
    """With one degree of freedom t is Cauchy: its quantile is tan(pi (q - 1/2))."""
    estimate = student_t(np.array([0.0, 2.0]), confidence=0.95)

    assert estimate.upper - 1 == pytest.approx(math.tan(math.pi * 0.475), rel=1e-9)
    assert not estimate.method.may_violate


def test_bootstrap_of_the_mean_agrees_with_student_t_on_many_replicates():
    samples = np.linspace(-1, 1, 400)

    by_bootstrap = bootstrap(samples, lambda x: x.mean(axis=-1), confidence=0.95, resamples=4000)
    by_t = student_t(samples, confidence=0.95)

    # 4000 resamples place a 2.5 % quantile to 5 % of the radius (five standard errors: 12 %).
    assert by_bootstrap.upper == pytest.approx(by_t.upper, rel=0.12)
    assert not by_bootstrap.method.may_violate


def test_bootstrap_keeps_the_figures_of_a_replicate_together():
    pairs = np.stack([np.arange(1.0, 21.0), 2 * np.arange(1.0, 21.0)])

    ratio = bootstrap(pairs, lambda x: x[0].mean(-1) / x[1].mean(-1), confidence=0.95)

    assert (ratio.lower, ratio.upper) == (0.5, 0.5)


@pytest.mark.parametrize("trials", [1, 10, 10_000])
def test_no_success_leaves_the_closed_form_upper_limit(trials):
    """P(0 of n) = (1 - p)^n: the limit is where that is half the error rate."""
    lower, upper = proportion_limits(0, trials, confidence=0.98)

    assert lower == 0
    assert upper == pytest.approx(1 - 0.01 ** (1 / trials), rel=1e-9)


@given(trials=st.integers(1, 200), share=st.floats(0, 1))
def test_proportion_limits_are_where_the_binomial_tails_are_half_the_error_rate(trials, share):
    successes = round(share * trials)

    lower, upper = proportion_limits(successes, trials, confidence=0.9)

    if successes:
        assert _tail(range(successes, trials + 1), trials, lower) == pytest.approx(0.05, rel=1e-6)
    if successes < trials:
        assert _tail(range(successes + 1), trials, upper) == pytest.approx(0.05, rel=1e-6)


def _tail(counts, trials, probability):
    return math.fsum(
        math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in counts
    )


def test_a_supremum_gives_each_step_its_share_of_the_error_rate():
    samples = np.tile([0.0, 1.0], (10, 50))

    together = supremum_of_means(samples, low=0, high=1, confidence=0.9)
    alone = empirical_bernstein(samples[0], low=0, high=1, confidence=0.99)

    assert together.upper == pytest.approx(alone.upper, rel=1e-12)
    assert together.confidence == 0.9


def test_the_lower_end_of_a_supremum_is_the_largest_lower_end_not_that_of_the_largest_mean():
    """A noisy step may have the larger mean and yet prove less."""
    steady, noisy = np.full(200, 0.6), np.tile([0.25, 1.0], 100)

    top = supremum_of_means(np.stack([steady, noisy]), low=0, high=1, confidence=0.9)

    assert top.value == noisy.mean()
    assert top.lower > empirical_bernstein(noisy, low=0, high=1, confidence=0.95).lower


def test_a_supremum_has_no_approximate_method():
    with pytest.raises(ValueError, match="method must be one of"):
        supremum_of_means(np.zeros((2, 9)), low=0, high=1, confidence=0.9, method=Method.STUDENT_T)


def test_the_largest_of_estimates_adds_their_error_rates_and_takes_the_weakest_method():
    sampled = empirical_bernstein(np.tile([0.0, 1.0], 50), low=0, high=1, confidence=0.99)
    rough = student_t(np.array([0.1, 0.2, 0.3]), confidence=0.95)

    top = largest([exact(0.4, n_schedules=3), sampled, rough])

    assert top.confidence == pytest.approx(0.94)
    assert top.method is Method.STUDENT_T
    assert top.lower == 0.4
    assert top.n_schedules == 5


def test_the_largest_of_exact_figures_is_exact():
    assert largest([exact(1.0), exact(3.0)]) == exact(3.0, n_schedules=2)


def test_an_estimate_outside_its_interval_is_refused():
    with pytest.raises(ValueError, match=r"Estimate\.value must be a number"):
        exact(math.nan)


def test_a_square_root_of_an_estimate_keeps_its_confidence():
    squared = empirical_bernstein(np.tile([4.0, 9.0], 50), low=0, high=16, confidence=0.95)

    root = squared.increasing(math.sqrt)

    assert (root.lower, root.upper) == (math.sqrt(squared.lower), math.sqrt(squared.upper))
    assert root.confidence == 0.95
