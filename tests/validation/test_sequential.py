"""A study that may stop as soon as it can decide does so, and not before."""

import math

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.validation import Method, Outcome, confidence_sequence
from elastic_consistency.validation.sequential import judge_until_decided

STARTED = get("server_started_gap")


def _study(bound, *, asked=None, **options):
    """Squared gaps of 0 or 100 with mean 64: B = 8, against (n - 1) M with n = 2."""
    rng = np.random.default_rng(4)

    def replicates(first, count):
        if asked is not None:
            asked.append((first, count))
        return 100.0 * (rng.random(count) < 0.64)

    return judge_until_decided(
        replicates,
        STARTED,
        {"n": 2, "M": bound},
        low=0,
        high=100,
        error_rate=1e-6,
        of_mean=math.sqrt,
        **options,
    )


@pytest.mark.parametrize(("bound", "outcome"), [(6.0, Outcome.VIOLATED), (9.5, Outcome.CONSISTENT)])
def test_a_clear_case_is_decided_long_before_the_last_replicate(bound, outcome):
    """False alarms of either kind: 1e-6 by the method, at whatever replicate it stops."""
    verdict = _study(bound, most=5000)

    assert verdict.outcome is outcome
    assert verdict.estimate.method is Method.CONFIDENCE_SEQUENCE
    assert verdict.estimate.n_replicates < 1000


def test_a_figure_near_its_bound_takes_longer_and_a_tight_one_is_not_decided():
    clear, near, tight = (_study(bound, most=1600) for bound in (5.0, 7.0, 8.0))

    assert clear.estimate.n_replicates < near.estimate.n_replicates
    assert tight.outcome is Outcome.INCONCLUSIVE
    assert tight.estimate.n_replicates == 1600


def test_it_stops_at_the_first_batch_whose_interval_decides():
    asked = []

    verdict = _study(6.0, asked=asked, batch=10)

    n = verdict.estimate.n_replicates
    assert asked == [(first, 10) for first in range(0, n, 10)]
    rng = np.random.default_rng(4)
    samples = np.concatenate([100.0 * (rng.random(10) < 0.64) for _ in asked])
    before, after = (
        confidence_sequence(samples[:k], low=0, high=100, confidence=1 - 1e-6).lower
        for k in (n - 10, n)
    )
    assert before <= 36 < after


def test_the_last_batch_is_cut_at_the_limit():
    asked = []

    _study(8.0, asked=asked, batch=40, most=100)

    assert asked == [(0, 40), (40, 40), (80, 20)]


def test_a_batch_larger_than_the_limit_is_refused():
    with pytest.raises(ValueError, match=r"batch must lie in \[1, most = 5\], got 32"):
        _study(8.0, most=5)
