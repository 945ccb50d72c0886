"""The executor and the influence of a schedule agree for every protocol.

The two share no code: one moves arrays through replicas and messages, the other coefficients.
"""

from itertools import repeat

import numpy as np

from elastic_consistency.execution import Executor
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence
from elastic_consistency.simulator import Until, simulate

D = 16  # parameters where a protocol does not say how many


class PureNoise:
    """A stochastic gradient that is its sample; it keeps views and gradients."""

    draws_per_job = D

    def __init__(self):
        self.views, self.gradients = [], []

    def gradient(self, view, draws, worker):
        self.views.append(np.array(view[0]))
        self.gradients.append(draws[0] - 0.5)
        return draws - 0.5


def test_executed_views_are_the_influence_times_the_gradients(protocol, uneven_cluster, payload):
    schedule = simulate(protocol, uneven_cluster, until=Until(jobs=60), seed=5, payload=payload)
    sizes = schedule.metadata.block_sizes or (D,)
    oracle, d = PureNoise(), sum(sizes)
    oracle.draws_per_job = d

    executor = Executor(schedule.metadata, oracle, SGD(0.5), seeds=(5,), start=np.zeros((1, d)))
    executor.execute(schedule.rows, repeat(0))

    order = schedule.rows.job[schedule.rows.op == Op.GRADIENT]
    gradients, views = np.zeros((len(schedule.jobs), d)), np.array(oracle.views)
    gradients[order] = oracle.gradients
    influence = compute_influence(schedule)
    ends = np.cumsum((0, *sizes))
    for block in range(len(sizes)):
        part = slice(ends[block], ends[block + 1])
        expected = -0.5 * influence.views[:, block] @ gradients[:, part]
        np.testing.assert_allclose(views[:, part], expected[order], atol=1e-12)
        mean = -0.5 * influence.final[block] @ gradients[:, part]
        np.testing.assert_allclose(executor.mean_model()[0, part], mean, atol=1e-12)
