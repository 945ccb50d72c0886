"""Schedules that must equal something simpler, bit for bit."""

import numpy as np
import pytest
import torch

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import Loss
from elastic_consistency.optimization.oracles import LogisticRegression, Quadratic, breast_cancer
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.random_streams import Cause, JobUniforms

SEEDS = (3, 4)


@pytest.fixture(scope="module", params=["quadratic", "logistic"])
def oracle(request):
    if request.param == "quadratic":
        return Quadratic(np.linspace(0.1, 1.0, 7), 0.5)
    data = breast_cancer()
    return LogisticRegression(data.features, data.labels, 2, batch=8, ridge=0.01)


def draws_of(oracle, job):
    return JobUniforms(SEEDS, Cause.SAMPLE, -1, oracle.draws_per_job)(job)


def start_of(oracle):
    return np.stack([oracle.start()] * len(SEEDS))


def test_one_worker_is_sequential_sgd(server, oracle):
    x = start_of(oracle)
    for job in range(40):
        x = x - 0.1 * oracle.gradient(x, draws_of(oracle, job), 0)

    measured = execute(server(1, 40), oracle, SGD(0.1), seeds=SEEDS)

    assert np.array_equal(measured.models[0], x)


def test_one_worker_with_momentum_is_the_sequential_heavy_ball(server, oracle):
    x, velocity = start_of(oracle), 0.0
    for job in range(40):
        velocity = 0.9 * velocity + oracle.gradient(x, draws_of(oracle, job), 0)
        x = x - 0.01 * velocity

    measured = execute(server(1, 40), oracle, HeavyBall(0.01, 0.9), seeds=SEEDS)

    assert np.array_equal(measured.models[0], x)


@pytest.mark.parametrize("rule", [SGD(0.1), HeavyBall(0.02, 0.9)])
def test_all_reduce_is_minibatch_descent(all_reduce, oracle, rule):
    """The same sum in the same order: p contributions of weight 1/p, then one step."""
    p, rounds = 4, 12
    x, state = start_of(oracle), rule.replica_state(start_of(oracle))
    for number in range(rounds):
        total = None
        for worker in range(p):
            job = number * p + worker
            part = (1 / p) * oracle.gradient(x, draws_of(oracle, job), worker)
            total = part if total is None else total + part
        x, state = rule.step(x, total, state)

    measured = execute(all_reduce(p, p * rounds), oracle, rule, seeds=SEEDS)

    for replica in range(p):
        assert np.array_equal(measured.models[replica], x)


def test_a_stale_gradient_is_the_one_of_the_model_that_was_read(server):
    """Three events by hand: two workers, f(x) = x^2 / 2, x_0 = 1, step 1/2."""
    oracle = Quadratic(np.array([1.0]), 0.0)
    schedule = server(2, 3, laws=None)

    measured = execute(schedule, oracle, SGD(0.5), seeds=(0,), start=np.array([1.0]))

    # Jobs 0 and 1 read 1. The first to finish leaves 1 - .5 = .5, which job 2 reads; the
    # other two, whatever their order, subtract .5 * 1 and .5 * .5.
    assert measured.models[0][0, 0] == 1 - 0.5 - 0.5 - 0.25


@pytest.mark.parametrize("rule", [SGD(0.1), HeavyBall(0.02, 0.9)])
def test_torch_and_numpy_agree_bit_for_bit_on_elementwise_work(server, rule):
    oracle = Quadratic(np.linspace(0.1, 1.0, 7), 0.0)
    schedule = server(5, 60)
    numbers = execute(schedule, oracle, rule, seeds=SEEDS)
    tensors = execute(schedule, oracle, rule, seeds=SEEDS, start=torch.asarray(oracle.start()))

    assert isinstance(tensors.models[0], torch.Tensor)
    assert np.array_equal(tensors.models[0].numpy(), numbers.models[0])


def test_a_batch_of_replicates_equals_single_runs(server, oracle):
    schedule = server(6, 60)
    together = execute(schedule, oracle, SGD(0.05), seeds=(8, 9, 10), probes=(Loss(),))

    for k, seed in enumerate((8, 9, 10)):
        alone = execute(schedule, oracle, SGD(0.05), seeds=(seed,), probes=(Loss(),))
        # matrix products may round differently in a batch; nothing else may differ
        np.testing.assert_allclose(together.models[0][k], alone.models[0][0], rtol=1e-12)
        np.testing.assert_allclose(
            together["loss"].values[:, k], alone["loss"].values[:, 0], rtol=1e-12
        )


def test_replicates_differ(server):
    oracle = Quadratic(np.ones(3), 1.0)
    measured = execute(server(2, 20), oracle, SGD(0.1), seeds=(0, 1))

    assert not np.allclose(measured.models[0][0], measured.models[0][1])
