"""A task for ranks: a residual network learns to read digits under one policy."""

import torch

from elastic_consistency.hardware_backend.elastic.latency import Latency
from elastic_consistency.hardware_backend.elastic.policies import AbstractPolicy
from elastic_consistency.hardware_backend.elastic.scheduler import ElasticScheduler
from elastic_consistency.hardware_backend.rank_process import Rank
from elastic_consistency.hardware_backend.residual_network import residual_network
from elastic_consistency.optimization.oracles import digits

_TRAINING, _BATCH, _WIDTH = 1280, 32, 8


def train_on_digits(
    rank: Rank, order: tuple[AbstractPolicy, Latency, int, int]
) -> tuple[float, int]:
    """Accuracy on 517 held-out digits, and how often the own gradient stood in.

    Args:
        rank: The rank; every one takes its own 32 images of a step.
        order: Policy, injected latency, number of steps, and seed of weights and samples.
    """
    policy, latency, steps, seed = order
    images, labels = _data()
    torch.manual_seed(seed)
    scheduler = ElasticScheduler(
        residual_network(_WIDTH, 10), step_size=0.1, policy=policy, latency=latency
    )
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        rank.progress.row = step
        chosen = torch.randint(_TRAINING, (rank.size, _BATCH), generator=generator)[rank.number]
        loss = torch.nn.functional.cross_entropy(scheduler(images[chosen]), labels[chosen])
        loss.backward()
    scheduler.close()
    scheduler.module.eval()
    with torch.no_grad():
        right = scheduler.module(images[_TRAINING:]).argmax(1) == labels[_TRAINING:]
    return float(right.float().mean()), sum(d.stood_in for d in scheduler.decisions)


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    """(1797, 3, 8, 8) digits with three equal channels, in an order of chance, and labels."""
    data = digits()
    order = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(0))
    images = torch.tensor(data.features[:, :64], dtype=torch.float32).reshape(-1, 1, 8, 8)
    return images.expand(-1, 3, -1, -1)[order], torch.tensor(data.labels)[order]
