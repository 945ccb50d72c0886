"""Data-parallel training on the MNIST images that ship inside a wheel."""

import torch
from torch import nn

from elastic_consistency.hardware_backend.elastic import ElasticScheduler
from elastic_consistency.optimization.oracles import mnist

_EPOCHS, _BATCH = 4, 32


def _network(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(8, 16, 5, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 10),
    )


def train(rank, argument):
    """Accuracy on held-out images after a few epochs."""
    policy, latency, seed = argument
    images, labels, test_images, test_labels = _data()
    scheduler = ElasticScheduler(_network(seed), step_size=0.2, policy=policy, latency=latency)
    generator = torch.Generator().manual_seed(seed)
    mine = slice(rank.number * _BATCH, (rank.number + 1) * _BATCH)
    for _ in range(_EPOCHS):
        for chosen in torch.randperm(len(images), generator=generator).split(2 * _BATCH):
            rank.progress.row += 1
            part = chosen[mine]
            loss = nn.functional.cross_entropy(scheduler(images[part]), labels[part])
            loss.backward()
    scheduler.close()
    with torch.no_grad():
        right = scheduler.module(test_images).argmax(1) == test_labels
    return float(right.float().mean())


def _data() -> tuple[torch.Tensor, ...]:
    data = mnist()
    images = torch.tensor(data.features[:, :784], dtype=torch.float32).reshape(-1, 1, 28, 28)
    images = images / images.max()
    labels = torch.tensor(data.labels)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    train, test = order[:4032], order[4032:]
    return images[train], labels[train], images[test], labels[test]
