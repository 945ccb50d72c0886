"""What the device check does on each rank."""

import time
from typing import Any

import torch

from elastic_consistency.hardware_backend.elastic import AbstractPolicy, ElasticScheduler, Latency
from elastic_consistency.hardware_backend.processes.rank_process import Rank
from elastic_consistency.hardware_backend.rank_replay import place_of
from elastic_consistency.hardware_backend.residual_network import residual_network

_CLASSES = 10


def describe_device(rank: Rank, device: str) -> dict[str, Any]:
    """Name and number of devices, and the version of torch."""
    told: dict[str, Any] = {"torch": torch.__version__, "device": device}
    if device != "cpu":
        module = torch.get_device_module(device)
        told["count"] = module.device_count()
        if told["count"]:
            told["name"] = module.get_device_name(0)
    return told


def train_elastic(
    rank: Rank, order: tuple[str, AbstractPolicy, Latency, int, int]
) -> dict[str, Any]:
    """Train a residual network on random images under one policy."""
    kind, policy, latency, width, steps = order
    device = place_of(kind, rank.number)
    torch.manual_seed(0)
    network = residual_network(width, _CLASSES).to(device)
    scheduler = ElasticScheduler(network, step_size=0.01, policy=policy, latency=latency)
    loss, begin = torch.zeros(()), time.monotonic()
    for step in range(steps):
        rank.progress.row = step
        images, labels = _batch(rank.number, step, device)
        loss = torch.nn.functional.cross_entropy(scheduler(images), labels)
        loss.backward()
    scheduler.finish()
    seconds = (time.monotonic() - begin) / max(1, steps)
    scheduler.close()
    return {
        "seconds_per_step": seconds,
        "last_loss": float(loss.detach()),
        "stood_in": sum(decision.stood_in for decision in scheduler.decisions),
        "checksum": [float(p.detach().double().sum()) for p in network.parameters()],
    }


def _batch(rank: int, step: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1000 * step + rank)
    images = torch.randn(8, 3, 32, 32, generator=generator)
    labels = torch.randint(_CLASSES, (8,), generator=generator)
    return images.to(device), labels.to(device)
