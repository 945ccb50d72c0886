"""Gaps to the auxiliary sequences: values from theory, and plain restatements."""

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import (
    AggregateSequence,
    AppliedSequence,
    Loss,
    StartedSequence,
)
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.schedule.influence import largest_gap
from elastic_consistency.schedule.started_gaps import started_gaps
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import Ringmaster

LINEAR = Linear(np.array([0.6, 0.8]))  # M = 1
STRAGGLER = [Constant(200.0), *[Exponential(1.0)] * 7]


def test_a_server_has_gap_n_minus_1_started_and_tau_max_applied(server):
    """Linear loss of slope 1, n = 8, a 200x straggler: 7 against tau_max."""
    schedule = server(8, 1500, laws=STRAGGLER)
    tau_max = int(schedule.staleness().steps.max())

    measured = execute(
        schedule, LINEAR, SGD(0.125), seeds=(0,), probes=(StartedSequence(), AppliedSequence())
    )

    assert tau_max > 200
    assert measured["gap_started"].peak == pytest.approx(7, rel=1e-9)
    assert measured["gap_applied"].peak == pytest.approx(tau_max, rel=1e-9)


def test_the_executor_and_influence_measure_the_same_gap(server):
    schedule = server(5, 120)

    measured = execute(schedule, LINEAR, SGD(0.5), seeds=(0,), probes=(StartedSequence(),))

    exact = largest_gap(schedule.influence().started_difference())
    assert measured["gap_started"].peak == pytest.approx(exact, rel=1e-12)


def test_heavy_ball_has_gap_mu_over_1_minus_mu(server):
    """9 at mu = .9, at step alpha / (1 - mu), approached from below by a constant gradient."""
    measured = execute(
        server(1, 400), LINEAR, HeavyBall(0.01, 0.9), seeds=(0,), probes=(StartedSequence(),)
    )

    assert measured["gap_started"].peak == pytest.approx(9, rel=1e-9)


def test_all_reduce_is_perfectly_consistent(all_reduce):
    measured = execute(
        all_reduce(4, 80), LINEAR, SGD(0.5), seeds=(0,), probes=(AggregateSequence(),)
    )

    assert measured["gap_aggregate"].peak <= 1e-12
    assert measured["gap_aggregate"].count == 80


def restate_started(schedule, oracle, step_size, seed):
    """x_k and v_k of every job, recomputed from the order of reads and updates alone."""
    from elastic_consistency.random_streams import Cause, JobUniforms

    draws = JobUniforms((seed,), Cause.SAMPLE, -1, oracle.draws_per_job)
    rows = schedule.rows
    x, started, gradients, gaps = oracle.start()[None], oracle.start()[None], {}, []
    for op, job in zip(rows.op.tolist(), rows.job.tolist(), strict=True):
        if op == 0:
            gaps.append(float(np.linalg.norm(started - x)) / step_size)
            gradients[job] = oracle.gradient(x, draws(job), 0)
            started = started - step_size * gradients[job]
        elif op == 3:
            x = x - step_size * gradients[job]
    return np.array(gaps)


def test_the_started_gap_equals_its_plain_restatement(server):
    oracle = Quadratic(np.linspace(0.1, 1.0, 5), 1.0)
    schedule = server(6, 150)

    measured = execute(schedule, oracle, SGD(0.1), seeds=(2,), probes=(StartedSequence(),))

    expected = restate_started(schedule, oracle, 0.1, 2)
    np.testing.assert_allclose(measured["gap_started"].values[:, 0], expected, atol=1e-12)


def test_the_last_started_point_is_the_final_model(server):
    """All updates are applied in the end, so both sequences meet."""
    oracle = Quadratic(np.linspace(0.1, 1.0, 5), 1.0)
    schedule = server(3, 60)
    measured = execute(schedule, oracle, SGD(0.1), seeds=(2,), probes=(StartedSequence(), Loss()))

    suboptimality = measured["suboptimality_started"]
    assert suboptimality.count == 60
    # The started point of the last job lacks only that job's own update.
    from elastic_consistency.random_streams import Cause, JobUniforms

    last_view = measured["squared_distance_started"].last
    assert last_view.shape == (1,)
    assert np.isfinite(JobUniforms((2,), Cause.SAMPLE, -1, 5)(59)).all()


def test_measures_at_the_started_point_are_those_of_the_oracle(server):
    """At the first job the point is x_0, whose values the oracle gives."""
    oracle = Quadratic(np.array([0.5, 2.0]), 0.0)
    x = oracle.start()[None]
    measured = execute(server(2, 10), oracle, SGD(0.1), seeds=(0,), probes=(StartedSequence(),))

    gradient = oracle.mean_gradient(x)
    assert measured["squared_gradient_started"].values[0, 0] == float((gradient**2).sum())
    distance = float(((x - oracle.minimiser()) ** 2).sum())
    assert measured["squared_distance_started"].values[0, 0] == pytest.approx(distance, rel=1e-15)
    assert measured["suboptimality_started"].values[0, 0] == pytest.approx(
        float(oracle.loss(x)[0]) - oracle.constants().infimum, rel=1e-15
    )


def test_time_to_target_is_the_first_look_at_or_below_it(server):
    oracle = Quadratic(np.array([1.0]), 0.0)
    schedule = server(1, 50)
    measured = execute(schedule, oracle, SGD(0.1), seeds=(0,), probes=(Loss(target=0.01),))

    loss = measured["loss"]
    first = int(np.argmax(loss.values[:, 0] <= 0.01))
    assert first > 0
    assert measured["time_to_target_s"].last[0] == loss.time[first]


@pytest.mark.parametrize("look", [0, 7, 50])
def test_a_loss_that_equals_the_target_has_reached_it(server, look):
    """The loss falls with every step, so that no earlier look is as low."""
    oracle, schedule = Quadratic(np.array([1.0]), 0.0), server(1, 50)
    loss = execute(schedule, oracle, SGD(0.1), seeds=(0,), probes=(Loss(),))["loss"]
    target = float(loss.values[look, 0])

    measured = execute(schedule, oracle, SGD(0.1), seeds=(0,), probes=(Loss(target=target),))

    assert measured["time_to_target_s"].last[0] == loss.time[look]


def test_a_target_that_is_never_reached_takes_forever(server):
    measured = execute(
        server(1, 5),
        Quadratic(np.array([1.0]), 0.0),
        SGD(0.1),
        seeds=(0,),
        probes=(Loss(target=0.0),),
    )

    assert np.isinf(measured["time_to_target_s"].last[0])


def test_views_of_discarded_jobs_do_not_count():
    """Ringmaster throws away what is too stale; both ways of measuring B leave it out."""
    cluster = Cluster.of_laws(STRAGGLER)
    schedule = simulate(Ringmaster(threshold=8), cluster, until=Until(jobs=600), seed=0)
    discarded = schedule.jobs.share == 0

    measured = execute(schedule, LINEAR, SGD(0.5), seeds=(0,), probes=(StartedSequence(),))

    difference = schedule.influence().started_difference()
    assert discarded.any()
    assert measured["gap_started"].count == (~discarded).sum()
    assert measured["gap_started"].peak == pytest.approx(largest_gap(difference), rel=1e-12)
    assert not difference[discarded].any()
    assert not started_gaps(schedule).aligned[discarded].any()
