"""Parity for schedules that use every operation, rules with state and codecs with state."""

import numpy as np
import pytest
import recorded_schedules as recorded
import torch

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import lower, parity, replay
from elastic_consistency.hardware_backend.lowering.lower import Carry
from elastic_consistency.hardware_backend.lowering.placement import Placement
from elastic_consistency.hardware_backend.lowering.routes import Route
from elastic_consistency.optimization.compression import QSGD, ErrorFeedback, TopK
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.oracles.torch_oracles import TorchModule
from elastic_consistency.optimization.update_rules import SGD, HeavyBall

SEEDS = (5, 6)
SIZES = (3, 4, 5)
SCHEDULES = {
    "push-sum": recorded.push_sum(4, 9),
    "pairwise averaging": recorded.pairwise_averaging(4, 24),
    "local steps": recorded.local_steps(4, 4),
    "layer-wise": recorded.layer_wise(4, 5, SIZES),
    "torn server": recorded.torn_server(4, 20, SIZES),
    "stand-in": recorded.subgroup_with_stand_in(4, 5),
    "own update after the sum": recorded.own_update_after_the_sum(4, 4),
    "minibatch with crashes": recorded.minibatch_server(4, 9),
    "updates and messages": recorded.updates_and_messages(4, 9),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_schedule_is_valid(name):
    SCHEDULES[name].check()


@pytest.mark.parametrize("n_ranks", [2, 3, 4])
@pytest.mark.parametrize("name", SCHEDULES)
def test_replay_equals_the_executor(quadratic, name, n_ranks):
    schedule, rule = SCHEDULES[name], SGD(0.2)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS)

    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=n_ranks)

    assert parity(replayed, expected) <= 1e-13


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_ordered_replay_has_the_bits_of_the_executor(quadratic, name):
    schedule, rule = SCHEDULES[name], SGD(0.2)
    expected = execute(schedule, quadratic, rule, seeds=SEEDS)

    replayed = replay(schedule, quadratic, rule, seeds=SEEDS, ranks=4, ordered=True)

    assert parity(replayed, expected) == 0.0


@pytest.mark.parametrize("name", ["layer-wise", "minibatch with crashes", "pairwise averaging"])
def test_momentum_and_error_feedback_live_with_their_owner(quadratic, name):
    """A crash takes the residual with it, on whichever rank the worker lives."""
    schedule, rule, codec = SCHEDULES[name], HeavyBall(0.05, 0.8), ErrorFeedback(TopK(1))
    expected = execute(schedule, quadratic, rule, codec=codec, seeds=SEEDS)
    forgetful = execute(schedule, quadratic, rule, codec=TopK(1), seeds=SEEDS)

    replayed = replay(schedule, quadratic, rule, codec=codec, seeds=SEEDS, ranks=3, ordered=True)

    assert parity(replayed, expected) <= 1e-14
    assert parity(replayed, forgetful) > 1e-3


def test_random_codecs_draw_what_the_executor_draws(quadratic):
    schedule, codec = SCHEDULES["torn server"], QSGD(2)
    expected = execute(schedule, quadratic, SGD(0.1), codec=codec, seeds=SEEDS)

    replayed = replay(schedule, quadratic, SGD(0.1), codec=codec, seeds=SEEDS, ranks=2)

    assert parity(replayed, expected) <= 1e-12


def test_push_sum_keeps_its_masses_though_no_rank_sends_them():
    """With linear loss and no steps taken, x / mass stays at the start exactly."""
    schedule = SCHEDULES["push-sum"]
    still = Quadratic(np.zeros(8), initial=np.arange(1.0, 9.0))

    replayed = replay(schedule, still, SGD(0.1), seeds=(0,), ranks=4)

    for model in replayed.models:
        assert np.allclose(model[0], np.arange(1.0, 9.0), rtol=1e-15, atol=0)


def test_the_schedules_take_every_route():
    taken = {
        crossing.route
        for schedule in SCHEDULES.values()
        for n_ranks, ordered in ((1, False), (4, False), (4, True))
        for crossing in lower(schedule, Placement(n_ranks), ordered=ordered).crossings
    }

    assert taken == set(Route) - {Route.REDUCE}  # see the next test


@pytest.mark.parametrize("n_ranks", [3, 4])
def test_a_server_that_reads_alone_gets_a_reduction(quadratic, n_ranks):
    schedule = recorded.reduced_to_a_server(4, 6)
    schedule.check()
    expected = execute(schedule, quadratic, SGD(0.2), seeds=SEEDS)

    replayed = replay(schedule, quadratic, SGD(0.2), seeds=SEEDS, ranks=n_ranks)

    routes = {c.route for c in lower(schedule, Placement(n_ranks)).crossings}
    assert routes == {Route.REDUCE}
    assert parity(replayed, expected) <= 1e-14


def test_a_block_travels_alone():
    """A torn read carries one block, not the model."""
    lowering = lower(SCHEDULES["torn server"], Placement(2))

    carried = [step for step in lowering.steps(0) if isinstance(step, Carry)]

    assert {step.blocks for step in carried} == {(0,), (1,), (2,)}


def test_any_torch_module_with_autograd_can_be_replayed():
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(60, 6, generator=generator, dtype=torch.float64)
    targets = torch.randint(3, (60,), generator=generator)
    torch.manual_seed(1)
    module = torch.nn.Sequential(
        torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(5, 3)
    ).double()
    objective = torch.nn.CrossEntropyLoss(reduction="none")
    oracle = TorchModule(module, objective, inputs, targets, batch=8)
    schedule = recorded.asynchronous_server(3, 20)
    start = torch.tensor(oracle.start()).repeat(2, 1)
    expected = execute(schedule, oracle, SGD(0.3), seeds=SEEDS, start=start)

    replayed = replay(schedule, oracle, SGD(0.3), seeds=SEEDS, ranks=3)

    assert np.array_equal(replayed.models[0], expected.models[0].numpy())
    assert oracle.loss(replayed.models[0]).mean() < oracle.loss(start.numpy()).mean()
