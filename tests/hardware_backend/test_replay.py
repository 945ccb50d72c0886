"""One schedule on 1 to 4 processes gives what the executor gives on one."""

import numpy as np
import pytest
import torch
from recorded_schedules import all_reduce, asynchronous_server, local_steps

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import Loss
from elastic_consistency.hardware_backend import Placement, RanksError, parity, replay
from elastic_consistency.hardware_backend.order import Part
from elastic_consistency.optimization.oracles import LogisticRegression, Quadratic, breast_cancer
from elastic_consistency.optimization.update_rules import SGD, HeavyBall

SEEDS = (3, 11)
SCHEDULES = {
    "asynchronous server": asynchronous_server(4, 40),
    "all-reduce": all_reduce(4, 12),
}


@pytest.fixture(scope="module")
def logistic() -> LogisticRegression:
    data = breast_cancer()
    return LogisticRegression(data.features, data.labels, 2, batch=8, ridge=0.1)


@pytest.mark.parametrize("n_ranks", [2, 3, 4])
@pytest.mark.parametrize("name", SCHEDULES)
def test_replay_equals_the_numpy_executor_to_1e_12(logistic, name, n_ranks):
    schedule, rule = SCHEDULES[name], SGD(0.2)
    expected = execute(schedule, logistic, rule, seeds=SEEDS)

    replayed = replay(schedule, logistic, rule, seeds=SEEDS, ranks=n_ranks)

    assert parity(replayed, expected) <= 1e-12
    assert len(replayed.models) == len(schedule.metadata.hosts)
    assert not np.allclose(replayed.models[0], logistic.start())


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_an_asynchronous_server_has_the_bits_of_one_process(logistic, n_ranks):
    schedule, rule = SCHEDULES["asynchronous server"], HeavyBall(0.05, 0.9)
    start = torch.tensor(logistic.start()).repeat(len(SEEDS), 1)
    expected = execute(schedule, logistic, rule, seeds=SEEDS, start=start)

    replayed = replay(schedule, logistic, rule, seeds=SEEDS, ranks=n_ranks)

    assert np.array_equal(replayed.models[0], expected.models[0].numpy())


@pytest.mark.parametrize("n_ranks", [3, 4])
def test_ordered_messages_have_the_bits_of_one_process(quadratic, n_ranks):
    """Four summands in another order give other bits: see the next test."""
    schedule, rule = SCHEDULES["all-reduce"], SGD(0.3)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS)

    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=n_ranks, ordered=True)

    assert parity(replayed, expected) == 0.0


def test_a_collective_sums_in_an_order_of_its_own_within_rounding(quadratic):
    schedule, rule = SCHEDULES["all-reduce"], SGD(0.3)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS)

    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=3)

    assert 0.0 < parity(replayed, expected) <= 1e-14


def test_all_reduce_equals_minibatch_descent_written_out(quadratic):
    """Reference: x <- x - step * mean of the gradients, with the noise of each job."""
    from elastic_consistency.random_streams import Cause, JobUniforms

    schedule = SCHEDULES["all-reduce"]
    draws = JobUniforms(SEEDS, Cause.SAMPLE, -1, quadratic.draws_per_job)
    x = np.tile(quadratic.start(), (2, 1))
    for k in range(12):
        x = x - 0.3 * np.mean([quadratic.gradient(x, draws(4 * k + w), w) for w in range(4)], 0)

    replayed = replay(schedule, quadratic, SGD(0.3), seeds=SEEDS, ranks=2)

    for model in replayed.models:
        assert np.allclose(model, x, rtol=1e-12, atol=0)


def test_where_workers_live_does_not_matter(quadratic):
    schedule, rule = SCHEDULES["asynchronous server"], SGD(0.3)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS)

    placement = Placement(3, explicit=(2, 0, 0, 1, 2))
    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=placement)

    assert parity(replayed, expected) == 0.0


def test_the_loss_is_traced_as_the_executor_traces_it(quadratic):
    schedule, rule, loss = SCHEDULES["asynchronous server"], SGD(0.3), Loss(every=5)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS, probes=(loss,))

    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=2, loss=loss)

    trace = replayed.traces["loss"]
    assert trace.count == 9
    assert np.array_equal(trace.time, expected["loss"].time)
    assert np.allclose(trace.values, expected["loss"].values, rtol=1e-14, atol=0)


@pytest.mark.parametrize("replica", range(4))
def test_the_loss_of_any_replica_is_traced_wherever_it_lives(quadratic, replica):
    """Each takes steps of its own, so that no two of them have the same losses."""
    schedule, rule, loss = local_steps(4, 1), SGD(0.3), Loss(replica)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS, probes=(loss,))

    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=2, loss=loss)

    values = replayed.traces["loss"].values
    assert np.allclose(values, expected["loss"].values, rtol=1e-13, atol=0)


def test_the_listener_hears_the_share_of_rows_that_are_done(quadratic, monkeypatch):
    schedule, heard = SCHEDULES["all-reduce"], []

    def pretended(_task, _orders, *, listener, **_options):
        for row in (0, len(schedule.rows) // 2):
            listener(row)
        return [Part(dict.fromkeys(range(4), np.zeros((2, 12))), {}, np.zeros(1))]

    monkeypatch.setitem(replay.__globals__, "run_ranks", pretended)

    replay(schedule, quadratic, SGD(0.3), seeds=SEEDS, ranks=1, listener=heard.append)

    assert heard == [0.0, 0.5]


def test_a_model_that_is_infinite_in_the_end_is_a_divergence():
    """One step of 1e200 along a gradient of 1e200: nobody reads the model afterwards."""
    steep = Quadratic(np.ones(2), initial=np.full(2, 1e200))

    with pytest.raises(RanksError, match="DivergenceError: Replica 0 is not finite"):
        replay(asynchronous_server(1, 1), steep, SGD(1e200), seeds=(0,), ranks=2)


def test_parity_refuses_the_measurement_of_another_schedule(quadratic):
    other = execute(asynchronous_server(4, 3), quadratic, SGD(0.3), seeds=SEEDS)

    replayed = replay(SCHEDULES["all-reduce"], quadratic, SGD(0.3), seeds=SEEDS, ranks=1)

    with pytest.raises(ValueError, match="digest"):
        parity(replayed, other)


def test_parity_refuses_the_measurement_of_other_seeds(quadratic):
    other = execute(SCHEDULES["all-reduce"], quadratic, SGD(0.3), seeds=(3, 12))

    replayed = replay(SCHEDULES["all-reduce"], quadratic, SGD(0.3), seeds=SEEDS, ranks=1)

    with pytest.raises(ValueError, match=r"seeds must be \(3, 11\), got \(3, 12\)"):
        parity(replayed, other)


def test_parity_sees_one_wrong_coordinate_of_one_replica(quadratic):
    schedule, rule = SCHEDULES["all-reduce"], SGD(0.3)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS)
    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=1)
    scale = np.linalg.norm(replayed.models[3][1])

    replayed.models[3][1, 7] += 1e-3

    assert parity(replayed, expected) == pytest.approx(1e-3 / scale, rel=1e-6)
