"""The plot of quantiles puts a law on its own diagonal."""

import numpy as np
import pytest

from elastic_consistency.report.plots.quantiles import quantile_plot
from elastic_consistency.simulator.delays import Exponential


def _distances(figure):
    words = figure.alternative.removesuffix(".").split(": ")[1].split("; ")
    return {name: float(value) for name, value in (word.split(", ") for word in words)}


def test_the_quantiles_of_a_law_lie_on_the_diagonal():
    """At the levels (k - 1/2) / n the sample is the law itself, up to its own mean."""
    law = Exponential(2.0)
    sample = law.quantile((np.arange(200) + 0.5) / 200)

    figure = quantile_plot(["a", "b"], [sample, 3 * sample], [law, law])

    # Three times the data: off by (1 - 1/3) of the largest quantile, over the mean.
    largest = sample.max() / sample.mean()
    assert _distances(figure)["worker a"] < 1e-9
    assert _distances(figure)["worker b"] == pytest.approx(largest * 2 / 3, rel=1e-2)
    assert "<svg" in figure.svg
    assert figure.data.html.count("<tr>") == 1 + 2 * 5


def test_only_the_four_worst_are_shown():
    law = Exponential(1.0)
    samples = [law.quantile((np.arange(50) + 0.5) / 50) * (1 + k) for k in range(6)]

    figure = quantile_plot([str(k) for k in range(6)], samples, [law] * 6)

    assert set(_distances(figure)) == {"worker 2", "worker 3", "worker 4", "worker 5"}
