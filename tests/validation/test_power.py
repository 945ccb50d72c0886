"""A power calculation foretells the interval that a study will get."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.validation import Method, bootstrap, empirical_bernstein, student_t
from elastic_consistency.validation.power import (
    detectable_gaps,
    detection_rate,
    radius,
    replicates_needed,
    smallest_detectable,
)

SAMPLED = [
    Method.EMPIRICAL_BERNSTEIN,
    Method.CONFIDENCE_SEQUENCE,
    Method.STUDENT_T,
    Method.BOOTSTRAP,
]
DESIGN = {"deviation": 0.3, "confidence": 0.95, "width": 2.0}


def test_the_radius_is_the_one_that_empirical_bernstein_gives():
    samples = np.tile([0.2, 0.8], 100)
    estimate = empirical_bernstein(samples, low=0, high=1, confidence=0.95)

    foretold = radius(
        Method.EMPIRICAL_BERNSTEIN, 200, deviation=estimate.deviation, confidence=0.95, width=1
    )

    assert estimate.upper - estimate.value == pytest.approx(foretold, rel=1e-12)


def test_the_radius_is_the_one_that_student_t_gives():
    estimate = student_t(np.array([1.0, 2.0, 4.0, 4.0]), confidence=0.9)

    foretold = radius(Method.STUDENT_T, 4, deviation=estimate.deviation, confidence=0.9)

    assert estimate.upper - estimate.value == pytest.approx(foretold, rel=1e-12)


def test_the_radius_of_the_bootstrap_is_normal():
    samples = np.linspace(-1, 1, 400)
    estimate = bootstrap(samples, lambda x: x.mean(axis=-1), confidence=0.95, resamples=4000)

    foretold = radius(Method.BOOTSTRAP, 400, deviation=samples.std(ddof=1), confidence=0.95)

    assert foretold == pytest.approx(1.959964 * samples.std(ddof=1) / 20, rel=1e-6)
    assert estimate.upper == pytest.approx(foretold, rel=0.12)


def test_the_radius_of_a_sequence_without_noise_is_its_best_bet():
    """Without noise the cost is ln(2 / delta) / (R bet), least at the largest bet."""
    found = radius(Method.CONFIDENCE_SEQUENCE, 50, deviation=0, confidence=0.95, width=1)

    assert found == pytest.approx(math.log(40) / (50 * 0.99), rel=1e-9)


@pytest.mark.parametrize("method", SAMPLED)
@given(st.floats(0.01, 1), st.floats(0.5, 0.99))
def test_the_replicates_needed_suffice_and_one_fewer_does_not(method, excess, power):
    needed = replicates_needed(excess, method, power=power, **DESIGN)

    assert smallest_detectable(method, needed, power=power, **DESIGN) <= excess
    if needed > 2:
        assert smallest_detectable(method, needed - 1, power=power, **DESIGN) > excess


@pytest.mark.parametrize("method", SAMPLED)
@given(st.integers(2, 10_000), st.floats(0.5, 0.99))
def test_the_smallest_detectable_violation_is_detected_with_its_power(method, count, power):
    excess = smallest_detectable(method, count, power=power, **DESIGN)

    assert detection_rate(excess, method, count, **DESIGN) == pytest.approx(power, rel=1e-6)


def test_an_exact_figure_detects_everything_at_once():
    assert replicates_needed(1e-6, Method.EXACT, deviation=1, confidence=0.95) == 1
    assert smallest_detectable(Method.EXACT, 1, deviation=1, confidence=0.95) == 0
    assert detection_rate(1e-6, Method.EXACT, 1, deviation=1, confidence=0.95) == 1


def test_a_violation_of_nothing_needs_more_replicates_than_there_are():
    assert replicates_needed(0.0, Method.EMPIRICAL_BERNSTEIN, **DESIGN) is None


def test_a_bounded_method_needs_the_range():
    with pytest.raises(ValueError, match="width must be the width of a known range"):
        radius(Method.EMPIRICAL_BERNSTEIN, 10, deviation=1, confidence=0.95)


@pytest.mark.parametrize(("bound", "ceiling"), [(10.9, 16.4), (1.0, 10.0), (9.0, 10.0)])
def test_a_gap_that_is_foretold_to_be_detected_is_detected_whatever_its_law(bound, ceiling):
    """Squared gaps of 0 or the ceiling vary as much as they can; constant ones do not."""
    design = {"confidence": 1 - 1e-4, "width": ceiling**2}

    steady, varied = detectable_gaps(5000, bound=bound, ceiling=ceiling, error_rate=1e-4)

    for gap, deviation in ((steady, 0.0), (varied, gap_deviation(varied, ceiling))):
        excess, method = gap**2 * (1 + 1e-9) - bound**2, Method.EMPIRICAL_BERNSTEIN
        assert detection_rate(excess, method, 5000, deviation=deviation, **design) >= 0.9 - 1e-9
    assert bound < steady < varied < ceiling
    # The law that varies most at the bound itself is not detected from much less.
    least = smallest_detectable(
        Method.EMPIRICAL_BERNSTEIN, 5000, deviation=gap_deviation(bound, ceiling), **design
    )
    assert steady**2 < bound**2 + least <= varied**2 * (1 + 1e-9)
    # No law within the ceiling varies by more than half of its square, nor does it take more.
    most = smallest_detectable(Method.EMPIRICAL_BERNSTEIN, 5000, deviation=ceiling**2 / 2, **design)
    assert varied**2 <= (bound**2 + most) * (1 + 1e-9)


def test_a_bound_above_all_that_can_be_is_never_seen_violated():
    for ceiling in (0.0, 0.5):
        found = detectable_gaps(256, bound=1.0, ceiling=ceiling, error_rate=1e-4)

        assert min(found) >= 1.0 > ceiling


def gap_deviation(gap, ceiling):
    """Of a squared gap that is 0 or ceiling^2, with mean gap^2."""
    return gap * math.sqrt(ceiling**2 - gap**2)
