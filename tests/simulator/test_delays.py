"""Delay laws agree with their moments, with their distribution functions and with themselves.

Distribution: null hypothesis, the draws have the law's distribution function as scipy.stats
knows it. The Dvoretzky-Kiefer-Wolfowitz inequality bounds the false-alarm rate by 1e-6 for any
sample size; with 100,000 draws it finds a shift of 0.0086 in probability.
"""

from itertools import pairwise
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from elastic_consistency.random_streams import Cause, uniforms
from elastic_consistency.simulator.delays import (
    Constant,
    Empirical,
    Exponential,
    Gamma,
    LogNormal,
    Pareto,
    ShiftedExponential,
)
from elastic_consistency.simulator.delays.draws import independent_draws

FALSE_ALARM = 1e-6
MEASURED = (0.2, 0.2, 0.5, 1.0, 1.0, 1.0, 7.0)
LAWS = {
    "constant": (Constant(2.5), None),
    "exponential": (Exponential(1.5), stats.expon(scale=1.5)),
    "shifted exponential": (ShiftedExponential(0.3, 2.0), stats.expon(0.3, 2.0)),
    "lognormal": (LogNormal(0.7, 0.8), stats.lognorm(0.8, scale=0.7)),
    "gamma": (Gamma(0.4, 3.0), stats.gamma(0.4, scale=3.0)),
    "gamma stages": (Gamma(4.0, 0.5), stats.gamma(4.0, scale=0.5)),
    "pareto": (Pareto(0.5, 9.0), stats.pareto(9.0, scale=0.5)),
    "pareto without variance": (Pareto(0.5, 1.5), stats.pareto(1.5, scale=0.5)),
    "pareto without mean": (Pareto(0.5, 0.8), stats.pareto(0.8, scale=0.5)),
    "empirical": (Empirical(MEASURED), None),
}
every_law = pytest.mark.parametrize("name", LAWS)


def _moment(law, power):
    """E[delay ** power] by quadrature of the quantile function, at u = 1 - exp(-s).

    The substitution makes the integrand decay. What lies beyond s = 20 is less than 1e-6 of the
    moment for every law here, and closer to u = 1 the uniforms themselves are too coarse.
    """
    n = len(MEASURED)
    jumps = [-np.log1p(-k / n) for k in range(1, n)] if isinstance(law, Empirical) else []
    edges = [0.0, *jumps, 20.0]

    def integrand(s):
        return float(law.quantile(np.array([-np.expm1(-s)]))[0]) ** power * exp(-s)

    parts = (
        integrate.quad(integrand, low, high, epsabs=0, epsrel=1e-7, limit=200)[0]
        for low, high in pairwise(edges)
    )
    return sum(parts)


@pytest.mark.parametrize("name", [n for n in LAWS if "without" not in n])
def test_moments_are_the_integrals_of_the_quantile_function(name):
    law, _ = LAWS[name]

    first, second = _moment(law, 1), _moment(law, 2)

    assert law.mean() == pytest.approx(first, rel=1e-5)
    assert law.variance() == pytest.approx(second - first**2, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", [n for n, (_, reference) in LAWS.items() if reference])
def test_moments_and_quantiles_equal_an_independent_library(name):
    law, reference = LAWS[name]
    u = np.array([1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9])

    np.testing.assert_allclose(law.quantile(u), reference.ppf(u), rtol=1e-7)
    assert law.mean() == pytest.approx(reference.mean())
    assert law.variance() == pytest.approx(reference.var())


@pytest.mark.parametrize("name", [n for n, (_, reference) in LAWS.items() if reference])
def test_draws_follow_the_distribution(name):
    law, reference = LAWS[name]
    draw = independent_draws(law, 11, Cause.COMPUTE, 3)
    n = 100_000

    sample = np.sort([draw(0.0) for _ in range(n)])

    rank = np.arange(n)
    cdf = reference.cdf(sample)
    distance = max(np.max(cdf - rank / n), np.max((rank + 1) / n - cdf))
    assert distance <= sqrt(log(2 / FALSE_ALARM) / (2 * n))


@pytest.mark.parametrize("name", ["exponential", "shifted exponential", "gamma stages"])
def test_sample_moments_agree_with_theory(name):
    """Means of 200,000 draws within 5.5 standard errors, a false-alarm rate of 4e-8 each.

    The smallest error found is 1.2 % of a standard deviation in the mean.
    """
    law, reference = LAWS[name]
    n = 200_000
    sample = law.quantile(uniforms(5, Cause.COMPUTE, 0, 0, n))
    fourth = reference.stats(moments="k") + 3

    assert abs(sample.mean() - law.mean()) <= 5.5 * sqrt(law.variance() / n)
    spread = law.variance() * sqrt((fourth - 1) / n)
    assert abs(np.mean((sample - law.mean()) ** 2) - law.variance()) <= 5.5 * spread


def test_empirical_draws_have_the_measured_frequencies():
    """Hoeffding's inequality per value, false-alarm rate 1e-6 over all; detects 0.009."""
    n = 100_000
    sample = Empirical(MEASURED).quantile(uniforms(2, Cause.COMPUTE, 0, 0, n))

    for value in set(MEASURED):
        expected = MEASURED.count(value) / len(MEASURED)
        assert abs(np.mean(sample == value) - expected) <= sqrt(log(8 / FALSE_ALARM) / (2 * n))


@every_law
@given(u=st.lists(st.floats(1e-12, 1 - 1e-12), min_size=2, max_size=20))
def test_quantiles_are_finite_ordered_and_not_negative(name, u):
    law, _ = LAWS[name]

    delays = law.quantile(np.sort(np.array(u)))

    assert np.isfinite(delays).all()
    assert (delays >= 0).all()
    assert (np.diff(delays) >= 0).all()


@every_law
def test_draws_do_not_depend_on_how_many_are_fetched_at_a_time(name):
    law, _ = LAWS[name]
    draw = independent_draws(law, 7, Cause.LINK, 2, lane=1, lanes=3, scale=2.0, offset=0.25)

    drawn = [draw(0.0) for _ in range(500)]

    one_by_one = [
        0.25 + 2.0 * law.quantile(uniforms(7, Cause.LINK, 2, 3 * k + 1, 1))[0] for k in range(500)
    ]
    assert drawn == one_by_one


def test_laws_that_share_a_stream_are_coupled():
    """Common random numbers: a law that is larger everywhere draws larger delays everywhere."""
    slow = independent_draws(Exponential(2.0), 1, Cause.COMPUTE, 0)
    fast = independent_draws(Exponential(1.0), 1, Cause.COMPUTE, 0)

    assert all(slow(0.0) == 2 * fast(0.0) for _ in range(100))


def test_measured_delays_may_come_in_any_order():
    assert Empirical.from_samples([3.0, 1.0, 2.0]) == Empirical((1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(-1.0), "Constant.seconds must be a finite number of seconds >= 0, got"),
        (lambda: Constant(inf), "Constant.seconds must be"),
        (lambda: Exponential(0.0), "Exponential.scale must be a number of seconds > 0, got 0.0."),
        (lambda: ShiftedExponential(-0.1, 1.0), "ShiftedExponential.shift must be"),
        (lambda: ShiftedExponential(0.1, -1.0), "ShiftedExponential.scale must be"),
        (lambda: LogNormal(0.0, 1.0), "LogNormal.median must be"),
        (lambda: LogNormal(1.0, 0.0), "LogNormal.log_deviation must be"),
        (lambda: Gamma(0.0, 1.0), "Gamma.shape must be"),
        (lambda: Gamma(1.0, inf), "Gamma.scale must be"),
        (lambda: Pareto(0.0, 1.0), "Pareto.minimum must be"),
        (lambda: Pareto(1.0, 0.0), "Pareto.tail must be a number > 0, got 0.0."),
        (lambda: Empirical(()), "Empirical.seconds must be an ascending, non-empty tuple"),
        (lambda: Empirical((2.0, 1.0)), "Empirical.seconds must be an ascending"),
        (lambda: Empirical((-2.0, 1.0)), "Empirical.seconds must be an ascending"),
    ],
)
def test_a_law_says_what_it_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()
