"""A table of delays gives each worker what it would have drawn by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.random_streams import Cause
from elastic_consistency.simulator.delays import Constant, Exponential, Gamma, Pareto
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.delay_table import DelayTable, draws_ahead
from elastic_consistency.simulator.delays.draws import independent_draws

LAWS = (Exponential(2.0), Constant(0.5), Gamma(2.0, 0.25), Exponential(1.0), Pareto(0.5, 1.5))
SCALES = (1.0, 3.0, 1.0, 7.5, 0.3)


@given(st.lists(st.integers(0, len(LAWS) - 1), max_size=60), st.sampled_from([4, 8, 16, 100]))
def test_delays_are_those_of_independent_draws_in_any_order_of_workers(order, ahead):
    """Rows are used up at different times, and one worker may draw all of them."""
    table = DelayTable(LAWS, SCALES, 3, Cause.COMPUTE, encode_s=0.125, ahead=ahead)
    alone = [
        independent_draws(law, 3, Cause.COMPUTE, worker, scale=scale, offset=scale * 0.125)
        for worker, (law, scale) in enumerate(zip(LAWS, SCALES, strict=True))
    ]

    for worker in order:
        assert table.draw(worker, 0.0) == alone[worker](0.0)


def test_a_row_is_refilled_again_and_again():
    table = DelayTable(LAWS, SCALES, 3, Cause.COMPUTE, ahead=4)
    alone = independent_draws(LAWS[3], 3, Cause.COMPUTE, 3, scale=SCALES[3])

    drawn = [table.draw(3, 0.0) for _ in range(41)]

    assert drawn == [alone(0.0) for _ in range(41)]


class _Negative(AbstractDelayLaw):
    def quantile(self, u):
        return -u

    def mean(self):
        return -0.5

    def variance(self):
        return 1 / 12


def test_a_law_with_negative_delays_is_refused():
    with pytest.raises(ValueError, match=r"must draw delays >= 0, got -0\."):
        DelayTable([_Negative()], [1.0], 3, Cause.COMPUTE, ahead=4)


@pytest.mark.parametrize(
    ("n_workers", "n_jobs", "expected"),
    [(10, None, 1024), (10, 10**6, 1024), (2**20, None, 16), (100, 100, 4), (100, 10_000, 124)],
)
def test_no_more_is_drawn_ahead_than_jobs_and_memory_ask_for(n_workers, n_jobs, expected):
    """100 jobs each and two standard deviations, 121, in whole groups of four."""
    assert draws_ahead(n_workers, n_jobs) == expected
