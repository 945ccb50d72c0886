"""A true bound is called VIOLATED at most at the stated rate, over a whole report together.

False-alarm rate of these tests: each compares a Clopper-Pearson limit that errs with 5e-7 with
the stated rate, so it fails by bad luck with probability at most 5e-7. With 10,000 studies it
detects (with probability 1/2) a true rate of 1.53 % where 1 % is stated, and 6.1 % where 5 %
is; with 1,000 studies 2.8 % and 8.7 %.
"""

import math

import local_sgd_studies as small
import numpy as np
import pytest
from scipy.special import ndtri

from elastic_consistency.bounds import get
from elastic_consistency.execution import Quantity, Sequence, execute
from elastic_consistency.execution.probes import AggregateSequence
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.validation import (
    Claim,
    Outcome,
    confidence_sequence,
    empirical_bernstein,
    judge_all,
    proportion_limits,
)
from elastic_consistency.validation.adversaries import local_steps
from elastic_consistency.validation.gaps import noise_gap, view_difference
from elastic_consistency.validation.intervals import (
    confidence_sequence_limits,
    empirical_bernstein_limits,
)

BOUND = get("local_sgd_noise_gap")
VALUES = {"H": small.PERIOD, "n": small.N_NODES, "sigma": 1.0}
LIMITS = {
    "empirical Bernstein": (empirical_bernstein_limits, empirical_bernstein),
    "confidence sequence": (confidence_sequence_limits, confidence_sequence),
}
SURE = 1 - 1e-6  # two-sided; each side errs with 5e-7


def _alarms(limits, studies, replicates, rate, seed, *, chunk=500):
    """Studies with at least one VIOLATED, by whole arrays."""
    rng, alarms = np.random.default_rng(seed), 0
    for _ in range(studies // chunk):
        samples = small.squared_gaps(rng, chunk, replicates)
        share = rate / small.N_CLAIMS
        lower, _ = limits(samples, low=0, high=small.LARGEST, error_rate=share)
        alarms += int((lower > small.TIGHT * (1 + 1e-9)).any(axis=1).sum())
    return alarms


def _report(samples, interval, rate):
    """Verdicts on the (claims, R) squared gaps of one study."""

    def measure(of_claim):
        return lambda confidence: interval(
            of_claim, low=0, high=small.LARGEST, confidence=confidence
        ).increasing(math.sqrt)

    return judge_all([Claim(measure(row), BOUND, VALUES) for row in samples], error_rate=rate)


def test_the_studies_are_tight_by_construction():
    """The schedule says so (exactly), and so does the formula of the bound."""
    schedule = local_steps(small.N_NODES, small.PERIOD, small.N_PERIODS)

    exact = noise_gap(view_difference(schedule, Sequence.MEAN))

    assert BOUND.quantity is Quantity.GAP
    assert BOUND.evaluate(VALUES) == pytest.approx(math.sqrt(small.TIGHT))
    assert exact == pytest.approx(math.sqrt(small.TIGHT))


def test_the_studies_are_what_the_executor_measures():
    """Row by row, with normal gradients in the place of signs: the same second moments."""
    n, period = small.N_NODES, small.PERIOD
    schedule = local_steps(n, period, 1)
    noisy = Linear(np.zeros(1), variance=1.0)

    measured = execute(
        schedule, noisy, SGD(1.0), seeds=tuple(range(4000)), probes=(AggregateSequence(),)
    )
    squared = measured["gap_aggregate"].values[-n:] ** 2

    # The mean of n squared gaps of
    # 4000 seeds errs by at most sqrt(2 / 4000) * 1.5 = .034; five of these are 6e-7.
    assert squared.mean() == pytest.approx(small.TIGHT, abs=5 * 0.034)


@pytest.mark.parametrize("rate", [0.01, 0.05])
@pytest.mark.parametrize("method", LIMITS)
def test_a_thousand_tight_studies_raise_few_false_alarms(method, rate):
    alarms = _alarms(LIMITS[method][0], 1000, 60, rate, seed=11)

    assert proportion_limits(alarms, 1000, confidence=SURE)[0] <= rate


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.01, 0.05])
@pytest.mark.parametrize("method", LIMITS)
def test_ten_thousand_tight_studies_raise_few_false_alarms(method, rate):
    alarms = _alarms(LIMITS[method][0], 10_000, 200, rate, seed=12)

    small.tell(f"arrays, {method}, stated {rate:.0%}", alarms, 10_000)
    assert proportion_limits(alarms, 10_000, confidence=SURE)[0] <= rate


@pytest.mark.parametrize("method", LIMITS)
def test_judge_all_gives_the_verdicts_that_the_studies_count(method):
    """The array count and the verdicts agree claim by claim, on a bound that is false, too."""
    limits, interval = LIMITS[method]
    samples = small.squared_gaps(np.random.default_rng(5), 1, 400)[0]
    samples = np.minimum(samples * np.linspace(1, 2, small.N_CLAIMS)[:, None], small.LARGEST)

    verdicts = _report(samples, interval, 0.05)
    lower, upper = limits(samples, low=0, high=small.LARGEST, error_rate=0.05 / small.N_CLAIMS)

    assert [v.outcome is Outcome.VIOLATED for v in verdicts] == (lower > small.TIGHT).tolist()
    assert [v.outcome is Outcome.CONSISTENT for v in verdicts] == (upper < small.TIGHT).tolist()
    assert any(v.outcome is Outcome.VIOLATED for v in verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_ten_thousand_whole_reports_raise_few_false_alarms(rate):
    """judge_all itself, with betting: claims, shares, verdicts and sentences included."""
    samples = small.squared_gaps(np.random.default_rng(13), 10_000, 60)
    suspects = _suspects(samples, rate)

    alarms = sum(
        any(v.outcome is Outcome.VIOLATED for v in _report(study, confidence_sequence, rate))
        for study in samples[suspects]
    )

    small.tell(f"reports, confidence sequence, stated {rate:.0%}", alarms, 10_000)
    assert proportion_limits(alarms, 10_000, confidence=SURE)[0] <= rate


def _suspects(samples, rate):
    """Studies whose lower limits come near the bound; by arrays, to save judging the others."""
    share = rate / small.N_CLAIMS
    parts = np.array_split(samples, 20)
    lower = np.concatenate(
        [
            confidence_sequence_limits(part, low=0, high=small.LARGEST, error_rate=share)[0]
            for part in parts
        ]
    )
    return (lower > 0.95 * small.TIGHT).any(axis=1)


def test_a_judge_that_forgets_to_share_the_error_rate_is_caught():
    """Normal lower limits, each at 5 %: eight claims together raise far more than 5 %."""

    def careless(samples, *, low, high, error_rate):
        errors = samples.std(axis=-1, ddof=1) / math.sqrt(samples.shape[-1])
        quantile = ndtri(1 - error_rate * small.N_CLAIMS)
        return samples.mean(axis=-1) - quantile * errors, np.full(samples.shape[:-1], high)

    alarms = _alarms(careless, 1000, 60, 0.05, seed=11)

    assert proportion_limits(alarms, 1000, confidence=SURE)[0] > 0.05


def test_a_judge_that_reads_the_figure_instead_of_the_interval_is_caught():
    def naive(samples, *, low, high, error_rate):
        return samples.mean(axis=-1), samples.mean(axis=-1)

    alarms = _alarms(naive, 1000, 60, 0.05, seed=11)

    assert proportion_limits(alarms, 1000, confidence=SURE)[0] > 0.9


def test_looking_after_every_replicate_raises_no_more_alarms_with_a_confidence_sequence():
    """Student's t at 5 % with a look after every replicate would raise several times as many."""
    rng, rate, chunk = np.random.default_rng(3), 0.05, 1000
    samples = rng.integers(0, 2, size=(chunk, 300)).astype(float)

    ever = np.zeros(chunk, bool)
    naively = np.zeros(chunk, bool)
    for count in range(10, 301, 10):
        seen = samples[:, :count]
        lower, _ = confidence_sequence_limits(seen, low=0, high=1, error_rate=rate)
        ever |= lower > 0.5
        error = seen.std(axis=-1, ddof=1) / math.sqrt(count)
        naively |= seen.mean(axis=-1) - ndtri(1 - rate / 2) * error > 0.5

    assert proportion_limits(int(ever.sum()), chunk, confidence=SURE)[0] <= rate
    assert proportion_limits(int(naively.sum()), chunk, confidence=SURE)[0] > rate / 2
