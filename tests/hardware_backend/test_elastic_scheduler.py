"""The elastic scheduler computes what its policy says, against references written out here."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from training_tasks import (
    STEPS,
    arrivals_of_two_sums,
    elastic,
    elastic_resumed,
    elastic_while_layers_arrive,
    elastic_with_a_death,
    elastic_with_an_idle_layer,
    elastic_without_gradient,
    flat,
    loss_of,
    network,
    sums_awaited,
    sums_by_priority,
)

from elastic_consistency.hardware_backend import RanksError, run_ranks
from elastic_consistency.hardware_backend.elastic import (
    Barrier,
    CrossBarrier,
    Latency,
    NormBounded,
    VarianceBounded,
)
from elastic_consistency.hardware_backend.elastic.digit_training import train_on_digits
from elastic_consistency.hardware_backend.elastic.layers import layers_of

pytestmark = pytest.mark.usefixtures("no_process_left")

LATE = (Latency(0.001), False)  # no message has arrived by the next forward pass
PROMPT = (Latency(0.001), True)  # every message has


@pytest.mark.parametrize("n_ranks", [2, 3])
@pytest.mark.parametrize("policy", [Barrier(), CrossBarrier(), NormBounded(1.0)])
def test_without_stand_ins_it_equals_distributed_data_parallel(policy, n_ranks, data_parallel_runs):
    expected = [plain[""] for plain, _ in data_parallel_runs[n_ranks]]

    parts = run_ranks(elastic, [(policy, Latency(0.002, 0.0005), None)] * n_ranks)

    for (parameters, decisions), reference in zip(parts, expected, strict=True):
        assert np.allclose(parameters, reference, rtol=1e-12, atol=1e-15)
        assert not any(stood_in for _, _, stood_in in decisions)


def _delayed_reference(n_ranks: int, weight: float) -> np.ndarray:
    """Every layer of every step stands in; the true mean comes one step later."""
    starts = np.array(flat(network()))
    settled, last = starts, [np.zeros_like(starts) for _ in range(n_ranks)]
    for step in range(STEPS):
        views = [settled - 0.1 * weight * own for own in last]
        gradients = [_gradient(view, rank, step) for rank, view in enumerate(views)]
        settled = settled - 0.1 * np.mean(last, axis=0)
        last = gradients
    return settled - 0.1 * np.mean(last, axis=0)


def _gradient(view: np.ndarray, rank: int, step: int) -> np.ndarray:
    model = network()
    torch.nn.utils.vector_to_parameters(torch.tensor(view), model.parameters())
    loss_of(model, rank, step).backward()
    return torch.cat([p.grad.reshape(-1) for p in model.parameters()]).numpy()


@pytest.mark.parametrize(("policy", "weight"), [(VarianceBounded(), 1.0), (NormBounded(0.0), 0.5)])
def test_a_layer_that_is_late_is_stood_in_for_and_put_right_one_step_later(
    policy, weight, data_parallel_runs
):
    """Reference written out with NumPy: views are settled - alpha * weight * own last gradient."""
    parts = run_ranks(elastic, [(policy, *LATE)] * 2)

    expected = _delayed_reference(2, weight)
    plain = data_parallel_runs[2][0][0][""]
    for parameters, decisions in parts:
        assert decisions == [(step, k, True) for step in range(STEPS - 1) for k in range(3)]
        assert np.allclose(parameters, expected, rtol=1e-11, atol=0)
        assert not np.allclose(parameters, plain, rtol=1e-4, atol=0)


def test_a_layer_in_time_needs_no_stand_in(data_parallel_runs):
    """Then any policy gives the numbers of the barrier."""
    expected = data_parallel_runs[2][0][0][""]

    parts = run_ranks(elastic, [(VarianceBounded(), *PROMPT)] * 2)

    for parameters, decisions in parts:
        assert not any(stood_in for _, _, stood_in in decisions)
        assert np.allclose(parameters, expected, rtol=1e-12, atol=1e-15)


def test_after_closing_all_ranks_hold_the_same_model():
    """Whatever stood in meanwhile: every update arrives in the end."""
    parts = run_ranks(elastic, [(NormBounded(0.5), Latency(0.004, 0.002, seed=1), None)] * 3)

    for parameters, _ in parts[1:]:
        assert np.allclose(parameters, parts[0][0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("policy", [CrossBarrier(), VarianceBounded(), Barrier()])
def test_a_resumed_run_is_the_uninterrupted_one_while_nothing_stands_in(policy):
    for uninterrupted, resumed in run_ranks(elastic_resumed, [(policy, *PROMPT)] * 2):
        assert uninterrupted == resumed


def test_a_resumed_run_carries_its_stand_ins_over():
    """All layers stand in before and after the interruption; bits must not change."""
    argument = (VarianceBounded(), *LATE)

    for uninterrupted, resumed in run_ranks(elastic_resumed, [argument] * 2):
        assert uninterrupted == resumed


@pytest.mark.parametrize("beta", [0.5, 0.9])
def test_a_resumed_run_remembers_the_norms_that_its_bound_compares(beta):
    """Layers arrive one by one; whoever forgets a norm proceeds too early."""
    argument = (NormBounded(beta), Latency(0.001), "in turn")

    for uninterrupted, resumed in run_ranks(elastic_resumed, [argument] * 2):
        assert uninterrupted == resumed


def test_a_prediction_between_steps_sees_every_update():
    for seen, final in run_ranks(elastic_without_gradient, [VarianceBounded()] * 2):
        assert np.allclose(seen, final, rtol=1e-13, atol=0)


def test_a_layer_without_a_gradient_takes_part_with_zeros(data_parallel_runs):
    expected = data_parallel_runs[2][0][0][""]

    for parameters, idle_unchanged in run_ranks(elastic_with_an_idle_layer, [Barrier()] * 2):
        assert np.allclose(parameters, expected, rtol=1e-12, atol=1e-15)
        assert idle_unchanged


@pytest.mark.usefixtures("long_last_words")
def test_a_rank_that_dies_gives_an_error_on_the_other():
    with pytest.raises(RanksError) as caught:
        run_ranks(elastic_with_a_death, [None] * 2)

    assert caught.value.failures[1] == "ended without a word, exit status 7"
    assert caught.value.failures[0].startswith("ContactLostError: summing layer")


@pytest.mark.parametrize(
    ("beta", "arrived", "answer"),
    [(0.8, 0.64, True), (0.8, 0.63, False), (0.0, 0.0, True), (1.0, 1.0, False)],
)
def test_the_norm_bound_compares_norms_not_squares(beta, arrived, answer):
    assert NormBounded(beta).proceeds(arrived, 1.0) is answer


def test_stand_in_weights_are_those_of_the_theory():
    assert NormBounded(0.5).stand_in(4) == 0.25
    assert VarianceBounded().stand_in(4) == 1.0


def test_latency_is_normal_repeatable_and_never_negative():
    published = Latency(0.005, 0.0002, seed=4)
    draws = np.array([published.of(1, k) for k in range(2000)])

    # Errors of 5 standard errors: chance below 1e-6.
    assert abs(draws.mean() - 0.005) < 5 * 0.0002 / np.sqrt(2000)
    assert abs(draws.std() / 0.0002 - 1) < 5 / np.sqrt(2 * 2000)
    assert published.of(1, 7) == Latency(0.005, 0.0002, seed=4).of(1, 7)
    assert published.of(0, 7) != published.of(1, 7)
    assert min(Latency(0.0, 1.0).of(0, k) for k in range(100)) == 0.0


def test_among_ready_layers_the_first_has_priority():
    """The last layer is ready first and under way; then the first overtakes the second."""
    for sums, arrivals in run_ranks(sums_by_priority, [None] * 2):
        assert sums == {0: [1.0] * 3, 1: [3.0] * 3, 2: [5.0] * 3}
        assert arrivals == [(0, 2), (0, 0), (0, 1)]


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9, 1.0])
def test_a_layer_waits_only_until_enough_of_the_others_has_arrived(beta):
    """Layers arrive from the last to the first; the first stands in once the norm suffices."""
    ((stood_in, arrived, shares),) = run_ranks(elastic_while_layers_arrive, [NormBounded(beta)])

    held = np.sqrt(np.cumsum([0.0, shares[2], shares[1]]))
    enough = [k for k in range(3) if held[k] >= beta]
    needed = enough[0] if enough else 3
    assert arrived[0] == needed
    assert stood_in[0] == (needed < 3)


def test_a_latency_that_holds_the_link_delays_the_next_sum():
    """A sleep never ends early: the second arrives a whole latency after the first."""
    for first, second in run_ranks(arrivals_of_two_sums, [Latency(0.2, holds_link=True)] * 2):
        assert second - first >= 0.2


def test_who_awaits_more_sums_gets_more():
    for seen in run_ranks(sums_awaited, [Latency(0.05, holds_link=True)] * 2):
        assert all(before < after for before, after in pairwise(seen))


def test_accuracy_on_digits_is_the_mean_of_four_looks_at_517_of_them():
    order = (Barrier(), Latency(), 16, 0)

    for ((accuracy, stood_in),) in run_ranks(train_on_digits, [(order,)] * 2):
        assert stood_in == 0
        assert 0 < accuracy <= 1
        assert 4 * 517 * accuracy == pytest.approx(round(4 * 517 * accuracy), abs=1e-3)


def test_layers_are_the_holders_of_parameters():
    assert [layer.name for layer in layers_of(network())] == ["0", "2", "4"]


def test_shared_parameters_are_refused():
    first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    second.weight = first.weight

    with pytest.raises(ValueError, match="shared by '0' and '1'"):
        layers_of(torch.nn.Sequential(first, second))


def test_a_module_without_parameters_is_refused():
    with pytest.raises(ValueError, match="got none"):
        layers_of(torch.nn.Tanh())


@pytest.mark.parametrize("beta", [-0.1, 1.1])
def test_beta_is_a_share(beta):
    with pytest.raises(ValueError, match="beta must be"):
        NormBounded(beta)
