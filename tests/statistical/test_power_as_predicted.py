"""Planted violations are detected as often as `power` foretold.

False-alarm rate: observed rates of 2,000 studies lie within 5.5 standard errors (2e-8 each for
a normal count; at most 5e-7 exactly, by Clopper-Pearson) of a rate that may differ from the
prediction by the stated allowance, which covers taking the sample deviation as known and the
sample mean as normal. The tests detect predictions that are off by 0.1.
"""

import local_sgd_studies as small
import numpy as np
import pytest

from elastic_consistency.validation import Method, proportion_limits
from elastic_consistency.validation.intervals import (
    confidence_sequence_limits,
    empirical_bernstein_limits,
)
from elastic_consistency.validation.power import (
    detection_rate,
    detection_rate_by_simulation,
    replicates_needed,
)

STUDIES = 2000
ALLOWANCE = 0.04
SURE = 1 - 1e-6
CONFIDENCE = 0.95


def _deviation():
    """Standard deviation of a squared gap, over all equally likely signs of one period."""
    count = (small.PERIOD - 1) * small.N_NODES
    bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    signs = (2.0 * bits - 1).reshape(-1, small.PERIOD - 1, small.N_NODES)
    gaps = (signs.mean(axis=-1) - signs[..., 0]).sum(axis=-1)
    assert np.mean(gaps**2) == pytest.approx(small.TIGHT)
    return float(np.std(gaps**2))


def _detected(limits, bound, replicates, seed, *, chunk=100):
    """Studies whose single claim excludes `bound`."""
    rng, detected = np.random.default_rng(seed), 0
    for _ in range(STUDIES // chunk):
        samples = small.squared_gaps(rng, chunk, replicates)[:, 0]
        lower, _ = limits(samples, low=0, high=small.LARGEST, error_rate=1 - CONFIDENCE)
        detected += int((lower > bound).sum())
    return detected


def _agree(detected, predicted):
    lower, upper = proportion_limits(detected, STUDIES, confidence=SURE)
    assert lower - ALLOWANCE <= predicted <= upper + ALLOWANCE


@pytest.mark.parametrize("violation", [0.1, 0.2, pytest.param(0.05, marks=pytest.mark.slow)])
@pytest.mark.parametrize("power", [0.5, 0.9])
def test_empirical_bernstein_detects_planted_violations_as_predicted(violation, power):
    """The bound is planted below the truth, so that the truth exceeds it by `violation`."""
    bound = small.TIGHT / (1 + violation)
    design = {"deviation": _deviation(), "confidence": CONFIDENCE, "width": small.LARGEST}
    excess, method = small.TIGHT - bound, Method.EMPIRICAL_BERNSTEIN

    replicates = replicates_needed(excess, method, power=power, **design)
    predicted = detection_rate(excess, method, replicates, **design)

    detected = _detected(empirical_bernstein_limits, bound, replicates, seed=21)

    small.tell(f"{violation:.0%}, {replicates} replicates: {predicted:.1%}", detected, STUDIES)
    assert predicted == pytest.approx(power, abs=0.01)
    _agree(detected, predicted)


@pytest.mark.parametrize(
    ("violation", "replicates"),
    [(0.2, 900), (0.1, 2500), pytest.param(0.05, 10_000, marks=pytest.mark.slow)],
)
def test_betting_detects_planted_violations_as_simulated(violation, replicates):
    """Simulated with other seeds than those of the studies."""
    bound = small.TIGHT / (1 + violation)

    predicted = detection_rate_by_simulation(
        lambda rng, shape: small.squared_gaps(rng, *shape)[:, 0],
        bound,
        replicates,
        low=0,
        high=small.LARGEST,
        confidence=CONFIDENCE,
        studies=400,
        seed=31,
    )

    found = 0
    rng = np.random.default_rng(32)
    for _ in range(4):
        samples = small.squared_gaps(rng, 100, replicates)[:, 0]
        lower, _ = confidence_sequence_limits(
            samples, low=0, high=small.LARGEST, error_rate=1 - CONFIDENCE
        )
        found += int((lower > bound).sum())
    small.tell(f"betting, {violation:.0%}, {replicates}: {predicted:.1%}", found, 400)
    # Two counts of 400 that share one rate differ by more than 0.19 with probability < 1e-6.
    assert abs(found / 400 - predicted) <= 0.19
    assert 0.1 < predicted < 1


def test_the_closed_form_of_a_sequence_is_a_rough_guide_to_betting():
    """Replicates planned for 90 % by the formula detect between 50 and 100 %."""
    violation = 0.2
    bound = small.TIGHT / (1 + violation)
    replicates = replicates_needed(
        small.TIGHT - bound,
        Method.CONFIDENCE_SEQUENCE,
        deviation=_deviation(),
        confidence=CONFIDENCE,
        width=small.LARGEST,
    )

    rate = detection_rate_by_simulation(
        lambda rng, shape: small.squared_gaps(rng, *shape)[:, 0],
        bound,
        replicates,
        low=0,
        high=small.LARGEST,
        confidence=CONFIDENCE,
        studies=300,
    )

    assert proportion_limits(round(rate * 300), 300, confidence=SURE)[1] > 0.5
