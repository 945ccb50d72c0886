"""Compressing hooks of DistributedDataParallel: equal to torch's where it has one, resumable."""

import numpy as np
import pytest
import torch
from training_tasks import CODECS, STEPS, flat, loss_of, network

from elastic_consistency.hardware_backend.elastic import CodecHook
from elastic_consistency.optimization.compression import Identity


@pytest.mark.parametrize("n_ranks", [2, 3])
def test_without_compression_the_hook_equals_torchs_own_bit_for_bit(n_ranks, data_parallel_runs):
    for plain, _ in data_parallel_runs[n_ranks]:
        assert plain["identity"] == plain["torch"]
        # Without a hook torch multiplies by 1 / n instead of dividing by n.
        assert np.allclose(plain["identity"], plain[""], rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", CODECS)
def test_ranks_stay_alike_and_compression_changes_the_run(name, data_parallel_runs):
    first, second, third = (plain for plain, _ in data_parallel_runs[3])

    assert first[name] == second[name] == third[name]
    assert np.allclose(first[name], first[""], rtol=1e-12) == (name == "identity")


def test_error_feedback_is_the_algorithm_written_out(data_parallel_runs):
    """Reference: e <- e + g - TopK(e + g), for each parameter and rank, with NumPy."""
    x = [p.detach().numpy().copy() for p in network().parameters()]
    residual = [[np.zeros_like(p).reshape(-1) for p in x] for _ in range(2)]
    for step in range(STEPS):
        sent = [_compressed(x, rank, step, residual[rank]) for rank in range(2)]
        x = [p - 0.1 * (a / 2 + b / 2).reshape(p.shape) for p, a, b in zip(x, *sent, strict=True)]

    parameters = data_parallel_runs[2][0][0]["TopK"]
    assert np.allclose(parameters, np.concatenate([p.reshape(-1) for p in x]), rtol=1e-11)


def _compressed(x, rank: int, step: int, residual: list) -> list[np.ndarray]:
    model = network()
    for parameter, value in zip(model.parameters(), x, strict=True):
        parameter.data.copy_(torch.tensor(value))
    loss_of(model, rank, step).backward()
    sent = []
    for k, parameter in enumerate(model.parameters()):
        corrected = residual[k] + parameter.grad.reshape(-1).numpy()
        largest = np.argsort(-np.abs(corrected), kind="stable")[:3]
        vector = np.zeros_like(corrected)
        vector[largest] = corrected[largest]
        residual[k] = corrected - vector
        sent.append(vector)
    return sent


@pytest.mark.parametrize("name", ["TopK", "one-bit", "QSGD"])
def test_a_resumed_run_equals_the_uninterrupted_one_bit_for_bit(name, data_parallel_runs):
    """Residuals and random streams are in the checkpoint; buckets are rearranged meanwhile."""
    for plain, resumed in data_parallel_runs[2]:
        assert resumed[name] == plain[name]


def test_the_state_of_another_module_is_refused():
    hook, other = CodecHook(network(), Identity()), CodecHook(torch.nn.Linear(2, 2), Identity())

    with pytest.raises(ValueError, match=r"needs the state of \['0.bias'"):
        hook.load_state_dict(other.state_dict())


def test_parameters_are_named_alike_with_and_without_the_wrapper():
    wrapped = torch.nn.ModuleDict({"module": network()})

    inner = CodecHook(network(), Identity()).state_dict()["steps"]
    assert CodecHook(wrapped, Identity()).state_dict()["steps"] == inner
    assert len(flat(network())) == 116
