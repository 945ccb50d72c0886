"""Peak memory is planned before the run and does not grow with the number of updates."""

import tracemalloc

import numpy as np
import pytest

from elastic_consistency.execution import Engine, Execution
from elastic_consistency.execution.probes import AppliedSequence, Loss, StartedSequence
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall

D = 200_000


def peak_and_plan(schedule, rule, probes):
    oracle = Quadratic(np.linspace(0.1, 1.0, D))
    tracemalloc.start()
    execution = Execution(schedule, oracle, rule, seeds=(0,), probes=probes, engine=Engine.PROGRAM)
    for _ in execution.chunks():
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak, execution.memory_plan


@pytest.mark.parametrize("rule", [SGD(0.01), HeavyBall(0.01, 0.5)])
@pytest.mark.parametrize("probe", [AppliedSequence(every=9), StartedSequence(every=9), Loss()])
def test_the_peak_stays_within_the_plan(server, rule, probe):
    peak, plan = peak_and_plan(server(8, 120), rule, (probe,))

    assert plan.predicted_bytes * 0.7 < peak
    assert peak <= 1.05 * plan.live * plan.array_bytes + plan.base * plan.array_bytes + 3e5


def test_ten_times_the_updates_need_the_same_arrays(server):
    """n workers view at most n versions; the present one and the one being written are shared."""
    few = peak_and_plan(server(8, 60), SGD(0.01), (AppliedSequence(every=99),))
    many = peak_and_plan(server(8, 600), SGD(0.01), (AppliedSequence(every=99),))

    assert few[1].live == many[1].live == 8
    assert many[0] <= 1.02 * few[0]


def test_without_a_look_at_views_and_noise_only_what_is_read_later_lives(server):
    assert peak_and_plan(server(1, 30), SGD(0.01), (Loss(),))[1].live == 1
