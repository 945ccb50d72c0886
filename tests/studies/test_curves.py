"""Bands of loss curves: means and percentiles of all runs, each a step function of its axis."""

import numpy as np
import pytest

from elastic_consistency.studies.comparison.curves import band_over_gradients, band_over_time
from elastic_consistency.studies.comparison.runs import LossRun

INFIMUM = 2.0
LOSSES = np.arange(1.0, 22.0)  # of 21 replicates above the infimum: percentiles are entries


def _run(time_s, losses, *, gradients=None) -> LossRun:
    """A run whose replicates have `losses` times LOSSES above the infimum at each look."""
    time = np.array(time_s)
    loss = INFIMUM + np.array(losses)[:, None] * LOSSES
    taken = time if gradients is None else np.array(gradients)
    return LossRun(np.full(len(LOSSES), np.inf), time, taken, loss, None)


def test_a_band_holds_nine_runs_in_ten():
    """Of 1, 2, ..., 21 the mean is 11, and 2 and 20 leave one in twenty on their side."""
    band = band_over_time([_run([0.0, 1.0, 10.0], [1.0, 1.0, 1.0])], INFIMUM)

    assert band.mean == pytest.approx(11.0)
    assert band.lower == pytest.approx(2.0)
    assert band.upper == pytest.approx(20.0)


def test_between_two_looks_the_last_one_counts():
    runs = [_run([0.0, 1.0, 4.0, 16.0], [8.0, 4.0, 2.0, 1.0])]

    band = band_over_time(runs, INFIMUM)

    assert (band.x[0], band.x[-1]) == pytest.approx((1.0, 16.0))
    expected = np.where(band.x < 4 - 1e-9, 4.0, np.where(band.x < 16 - 1e-9, 2.0, 1.0))
    assert band.mean == pytest.approx(11.0 * expected)


def test_all_runs_count_as_far_as_the_shortest_goes():
    runs = [_run([0.0, 1.0, 10.0], [1.0, 1.0, 1.0]), _run([0.0, 2.0, 4.0], [9.0, 3.0, 3.0])]

    band = band_over_time(runs, INFIMUM)

    assert (band.x[0], band.x[-1]) == pytest.approx((1.0, 4.0))
    assert band.mean[0] == pytest.approx(11.0 * (1 + 9) / 2)
    assert band.mean[-1] == pytest.approx(11.0 * (1 + 3) / 2)


def test_the_other_axis_counts_gradients():
    run = _run([0.0, 1.0, 4.0], [4.0, 2.0, 1.0], gradients=[0.0, 100.0, 200.0])

    band = band_over_gradients([run], INFIMUM)

    assert (band.x[0], band.x[-1]) == pytest.approx((100.0, 200.0))
    assert band.mean[0] == pytest.approx(22.0)
