"""Schedules on which our constants are visibly smaller than the published ones, and reached.

Each gap is exact: it is read off the coefficients of the schedule, or executed with the gradients
that are worst for it. docs/theory/improvements.md explains the numbers.
"""

import math

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import StartedSequence
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.compression import ErrorFeedback, Scaling
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule.started_gaps import started_gaps
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.validation.adversaries import (
    crashed_broadcasts,
    server_schedule,
    stand_ins,
    torn_updates,
)
from elastic_consistency.validation.gaps import aligned_block_gap, noise_gap, view_difference

ROUNDING = 1 + 1e-9


def certified(name, values):
    """The constant, after its certificate has been checked."""
    bound = get(name)
    assert bound.verify() >= 1
    return bound.evaluate(values)


def test_with_a_straggler_the_gap_is_n_minus_1_and_not_the_largest_staleness():
    """Seven workers make 200 updates each while the eighth computes one."""
    laws = [Constant(1.0)] * 7 + [Constant(200.5)]
    schedule = simulate(AsynchronousServer(), Cluster.of_laws(laws), until=Until(jobs=3000), seed=0)
    schedule.check()

    largest = schedule.staleness().steps.max()
    measured = started_gaps(schedule).aligned.max()
    sharp = certified("server_started_gap", {"n": 8, "M": 1})
    published = certified("server_applied_gap", {"tau_max": largest, "M": 1})

    assert (measured, sharp, published) == (7, 7, 1400)


@pytest.mark.parametrize(
    ("contraction", "sharp", "published"), [(0.5, 2.4142, 2.4495), (0.9, 18.4868, 31.4643)]
)
def test_error_feedback_reaches_the_sharp_constant(contraction, sharp, published):
    """The codec w -> (1 - sqrt(gamma)) w under a constant gradient, 400 steps."""
    schedule = server_schedule([0] * 400, n_workers=1)
    feedback = ErrorFeedback(Scaling(contraction))
    run = execute(
        schedule,
        Linear(np.ones(1)),
        SGD(1.0),
        seeds=(0,),
        probes=(StartedSequence(),),
        codec=feedback,
    )

    measured = run["gap_started"].peak
    values = {"gamma": contraction, "M": 1}

    assert certified("error_feedback_gap", values) == pytest.approx(sharp, abs=1e-4)
    assert certified("published_error_feedback_gap", values) == pytest.approx(published, abs=1e-4)
    assert measured == pytest.approx(sharp, abs=1e-4)


@pytest.mark.parametrize(("n_workers", "d"), [(8, 2), (17, 1000)])
def test_torn_updates_of_shared_memory_cost_no_root_of_the_dimension(n_workers, d):
    """Writes torn between two blocks, which hold .36 and .64 of every squared gradient."""
    schedule = torn_updates(n_workers)
    schedule.check()

    measured = aligned_block_gap(view_difference(schedule, Sequence.STARTED), (0.6, 0.8))
    values = {"tau_max": n_workers - 1, "d": d, "M": 1}

    assert measured == pytest.approx(n_workers - 1)
    assert measured <= certified("shared_memory_gap", values) * ROUNDING
    assert get("published_shared_memory_gap").evaluate(values) == pytest.approx(
        math.sqrt(d) * (n_workers - 1)
    )


def test_a_stand_in_gradient_costs_less_than_a_third_of_three_sigma():
    """Every message is late and replaced by the own gradient: sqrt((p - 1)/p) sigma."""
    values = {"sigma": 1, "p": 8, "L": 1e-12, "alpha": 1}

    measured = noise_gap(view_difference(stand_ins(8), Sequence.AGGREGATE))

    assert measured == pytest.approx(math.sqrt(7 / 8))
    assert measured <= certified("elastic_variance_gap", values) * ROUNDING
    assert get("published_elastic_variance_gap").evaluate(values) == 3


def test_crashes_with_a_stand_in_reach_the_sharp_constant():
    values = {"sigma": 1, "f": 4, "p": 8, "L": 1e-12, "alpha": 1}
    schedule = crashed_broadcasts(8, 4, substitute=True)

    measured = noise_gap(view_difference(schedule, Sequence.AGGREGATE))

    assert measured == pytest.approx(math.sqrt(4**2 + 4) / 8)
    assert measured <= certified("crash_substitution_gap", values) * ROUNDING
    assert get("published_crash_substitution_gap").evaluate(values) == 1.5
