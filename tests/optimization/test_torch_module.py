"""Any torch module as an oracle."""

import numpy as np
import pytest
import torch

from elastic_consistency.optimization.oracles import MultilayerPerceptron, iid_shards
from elastic_consistency.optimization.oracles.torch_oracles import TorchModule


def _cross_entropy(outputs, targets):
    return torch.nn.functional.cross_entropy(outputs, targets, reduction="none")


def _data(n_samples=24):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_samples, 3)), np.arange(n_samples) % 4


def _oracle(*layers, batch=2, dtype=torch.float64, **options):
    features, labels = _data()
    module = torch.nn.Sequential(*layers).to(dtype)
    inputs = torch.tensor(features, dtype=dtype)
    return TorchModule(module, _cross_entropy, inputs, torch.tensor(labels), batch, **options)


@pytest.fixture
def linear_layers():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield (torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))


def test_it_equals_backpropagation_written_by_hand(linear_layers):
    """torch stores (outputs, inputs) matrices, the other oracle their transposes."""
    features, labels = _data()
    shards = iid_shards(24, 3, np.random.default_rng(1))
    ours = MultilayerPerceptron(features, labels, 4, (5,), batch=2, shards=shards)
    theirs = _oracle(*linear_layers, shards=shards)
    order = np.concatenate(
        [
            np.arange(15).reshape(3, 5).T.ravel(),
            np.arange(15, 20),
            np.arange(20, 40).reshape(5, 4).T.ravel(),
            np.arange(40, 44),
        ]
    )
    rng = np.random.default_rng(2)
    points, draws = rng.normal(size=(3, 44)), rng.random((3, 2))
    with_seed = np.hstack([draws, np.full((3, 1), 0.5)])

    for worker in range(3):
        expected = ours.gradient(points, draws, worker)[:, order]
        gradient = theirs.gradient(points[:, order], with_seed, worker)
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-12)
    mean = theirs.mean_gradient(points[:, order])
    np.testing.assert_allclose(mean, ours.mean_gradient(points)[:, order], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(theirs.loss(points[:, order]), ours.loss(points), rtol=1e-12)


def test_results_come_back_in_the_library_and_precision_of_the_view(linear_layers, libraries):
    oracle = _oracle(*linear_layers)
    draws = np.random.default_rng(3).random((2, 3))
    for library in libraries:
        for dtype in (np.float64, np.float32):
            x = library.array(np.stack([oracle.start()] * 2), dtype)

            assert library.numpy(oracle.gradient(x, draws, 0)).dtype == dtype
            assert library.numpy(oracle.mean_gradient(x)).shape == (2, oracle.dimension)
            assert library.numpy(oracle.loss(x)).shape == (2,)


def test_the_start_is_the_module_as_it_was_given(linear_layers):
    oracle = _oracle(*linear_layers)
    flat = torch.cat(
        [p.detach().reshape(-1) for layer in linear_layers for p in layer.parameters()]
    )

    assert oracle.start().tolist() == flat.to(torch.float64).tolist()
    assert oracle.dimension == 44
    assert oracle.draws_per_job == 3
    assert oracle.minimiser() is None


def test_the_given_module_is_left_alone(linear_layers):
    module = torch.nn.Sequential(*linear_layers, torch.nn.BatchNorm1d(4)).double().eval()
    features, labels = _data()
    oracle = TorchModule(module, _cross_entropy, torch.tensor(features), torch.tensor(labels), 4)
    before = {name: value.clone() for name, value in module.state_dict().items()}

    oracle.gradient(oracle.start()[None], np.full((1, 5), 0.3), 0)

    assert not module.training
    assert all((module.state_dict()[name] == value).all() for name, value in before.items())


def test_dropout_is_fixed_by_the_job_and_silent_in_the_loss(linear_layers):
    oracle = _oracle(*linear_layers[:2], torch.nn.Dropout(0.5), linear_layers[2])
    x = oracle.start()[None]
    draws = np.array([[0.1, 0.2, 0.3]])
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)

    first, again = oracle.gradient(x, draws, 0), oracle.gradient(x, draws, 0)
    other = oracle.gradient(x, np.array([[0.1, 0.2, 0.4]]), 0)

    assert (first == again).all()
    assert (first != other).any()
    without = _oracle(*linear_layers)
    assert (oracle.loss(x) == without.loss(x)).all()
    assert (oracle.mean_gradient(x) == without.mean_gradient(x)).all()
    assert torch.rand(1) == expected, "the generator of the process was disturbed"


def test_batch_normalisation_forgets_what_it_saw(linear_layers):
    oracle = _oracle(linear_layers[0], torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 4), batch=6)
    x = oracle.start()[None]
    rng = np.random.default_rng(5)
    draws = rng.random((1, 7))

    first, loss = oracle.gradient(x, draws, 0), oracle.loss(x)
    for _ in range(5):
        oracle.gradient(x + rng.normal(size=x.shape), rng.random((1, 7)), 0)

    assert (oracle.gradient(x, draws, 0) == first).all()
    assert (oracle.loss(x) == loss).all()


class _Counting(torch.nn.Module):
    """A module that remembers how often it was called, and shows it."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 4)
        self.register_buffer("calls", torch.zeros(1, dtype=torch.float64))

    def forward(self, inputs):
        self.calls += 1
        return self.layer(inputs) * self.calls


def test_buffers_forget_what_they_saw():
    oracle = _oracle(_Counting())
    x, draws = oracle.start()[None], np.full((1, 3), 0.5)

    assert (oracle.gradient(x, draws, 0) == oracle.gradient(x, draws, 0)).all()
    assert oracle.loss(x) == oracle.loss(x)


def test_nothing_is_claimed_about_a_module():
    oracle = _oracle(torch.nn.Linear(3, 4), infimum=0.0)
    constants = oracle.constants(1.0)

    assert constants.infimum == 0.0
    assert constants.smoothness == constants.second_moment == float("inf")
    assert constants.strong_convexity == -float("inf")


def test_a_module_in_single_precision_works_for_double_views():
    oracle = _oracle(torch.nn.Linear(3, 4), dtype=torch.float32)

    gradient = oracle.gradient(oracle.start()[None], np.full((1, 3), 0.5), 0)

    assert gradient.dtype == np.float64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "TorchModule.batch"),
        ({"shards": iid_shards(9, 3, np.random.default_rng(0))}, "TorchModule.shards"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        _oracle(torch.nn.Linear(3, 4), **options)


def test_targets_must_match_the_inputs():
    with pytest.raises(ValueError, match=r"TorchModule.targets must be a tensor of 3 rows"):
        TorchModule(torch.nn.Linear(1, 1), _cross_entropy, torch.ones(3, 1), torch.ones(2), 1)
