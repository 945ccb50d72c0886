"""A task for ranks: a residual network learns to read digits under one policy."""

import torch

from elastic_consistency.hardware_backend.elastic.latency import Latency
from elastic_consistency.hardware_backend.elastic.policies import AbstractPolicy
from elastic_consistency.hardware_backend.elastic.scheduler import ElasticScheduler
from elastic_consistency.hardware_backend.processes.rank_process import Rank
from elastic_consistency.hardware_backend.residual_network import residual_network
from elastic_consistency.optimization.oracles import digits

_TRAINING, _BATCH = 1280, 32


Order = tuple[AbstractPolicy, Latency, int, int]


def train_on_digits(rank: Rank, orders: tuple[Order, ...]) -> list[tuple[float, int]]:
    """For each order: accuracy on 517 held-out digits, and how often the own gradient stood in.

    The network has two stages of one block, 13 layers; the accuracy is the mean of four looks in
    the last quarter, before each of which everything under way is waited for.

    Args:
        rank: The rank; every one takes its own 32 images of a step.
        orders: Policy, injected latency, number of steps, and seed of weights and samples.
    """
    return [_train(rank, order) for order in orders]


def _train(rank: Rank, order: Order) -> tuple[float, int]:
    policy, latency, steps, seed = order
    images, labels = _data()
    torch.manual_seed(seed)
    network = residual_network(8, 10, n_stages=2, n_blocks=1)
    scheduler = ElasticScheduler(network, step_size=0.2, policy=policy, latency=latency)
    accuracies, every = [], max(1, steps // 16)
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        rank.progress.row += 1
        chosen = torch.randint(_TRAINING, (rank.size, _BATCH), generator=generator)[rank.number]
        loss = torch.nn.functional.cross_entropy(scheduler(images[chosen]), labels[chosen])
        loss.backward()
        if step >= 3 * steps // 4 and (step + 1) % every == 0:
            scheduler.finish()
            accuracies.append(_accuracy(network, images[_TRAINING:], labels[_TRAINING:]))
    scheduler.close()
    return sum(accuracies) / len(accuracies), sum(d.stood_in for d in scheduler.decisions)


def _accuracy(network: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    network.eval()
    with torch.no_grad():
        right = network(images).argmax(1) == labels
    network.train()
    return float(right.float().mean())


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    """(1797, 3, 8, 8) digits with three equal channels, in an order of chance, and labels."""
    data = digits()
    order = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(0))
    images = torch.tensor(data.features[:, :64], dtype=torch.float32).reshape(-1, 1, 8, 8)
    return images.expand(-1, 3, -1, -1)[order], torch.tensor(data.labels)[order]
