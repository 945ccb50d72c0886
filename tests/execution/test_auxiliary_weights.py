"""Weights in the auxiliary sequence, for rules whose step size depends on where it is used."""

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import StartedSequence
from elastic_consistency.execution.probes.auxiliary_weights import auxiliary_weights
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import (
    SGD,
    DynSGD,
    Scheduled,
    StepDecay,
)
from elastic_consistency.schedule import Op


def test_a_constant_step_weighs_by_share(all_reduce):
    weights = auxiliary_weights(all_reduce(4, 8), SGD(0.5))

    assert weights.tolist() == [0.125] * 8


def test_a_staleness_aware_job_weighs_by_its_own_staleness(server):
    schedule = server(4, 40)
    stale = schedule.staleness()

    weights = auxiliary_weights(schedule, DynSGD(0.5))

    expected = {int(j): 0.5 / (int(s) + 1) for j, s in zip(stale.job, stale.steps, strict=True)}
    assert weights.tolist() == [expected[job] for job in range(40)]


def test_a_scheduled_job_weighs_by_the_step_that_uses_it(server):
    schedule = server(3, 30)
    rule = Scheduled(SGD(0.5), StepDecay(milestones=(10, 20)))
    order = schedule.rows.job[schedule.rows.op == Op.ADD]

    weights = auxiliary_weights(schedule, rule)

    expected = np.empty(30)
    expected[order] = [0.5 * 0.1 ** (k // 10) for k in range(30)]
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


@pytest.mark.parametrize("rule", [DynSGD(0.5), SGD(0.5)])
def test_both_sequences_meet_when_all_is_applied(server, rule):
    """One worker never lags: the started point is the view at every job, whatever the rule."""
    measured = execute(
        server(1, 20), Linear(np.ones(2)), rule, seeds=(0,), probes=(StartedSequence(),)
    )

    assert measured["gap_started"].peak == 0
