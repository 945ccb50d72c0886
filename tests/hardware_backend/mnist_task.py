"""The network and the MNIST images, shipped inside a wheel, of data-parallel training."""

import torch
from torch import nn

from elastic_consistency.optimization.oracles import mnist


def network(seed: int) -> nn.Module:
    """Two convolutions and a linear layer."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(8, 16, 5, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 10),
    )


def data() -> tuple[torch.Tensor, ...]:
    """Images and labels, for training and held out, in an order of chance."""
    data = mnist()
    images = torch.tensor(data.features[:, :784], dtype=torch.float32).reshape(-1, 1, 28, 28)
    images = images / images.max()
    labels = torch.tensor(data.labels)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    train, test = order[:4032], order[4032:]
    return images[train], labels[train], images[test], labels[test]
