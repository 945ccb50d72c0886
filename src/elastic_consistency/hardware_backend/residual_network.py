"""A network with the layers of ResNet-18, for images of 32 x 32."""

from typing import final

import torch
from torch import nn


def residual_network(
    width: int, n_classes: int, *, n_stages: int = 4, n_blocks: int = 2
) -> nn.Module:
    """Four stages of two blocks by default, with 1, 2, 4 and 8 times `width` channels.

    Source: He, Zhang, Ren, Sun (2016), arXiv:1512.03385, table 1; the stem is the one for
        small images.
    """
    stages: list[nn.Module] = []
    channels = width
    for stage in range(n_stages):
        out = width * 2**stage
        stages.append(_Block(channels, out, stride=1 if stage == 0 else 2))
        stages += [_Block(out, out, stride=1) for _ in range(n_blocks - 1)]
        channels = out
    stem = [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, n_classes)]
    return nn.Sequential(*stem, *stages, *head)


@final
class _Block(nn.Module):
    """relu(bn(conv(relu(bn(conv(x))))) + shortcut(x))."""

    def __init__(self, channels: int, out: int, *, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(),
            nn.Conv2d(out, out, 3, padding=1, bias=False),
            nn.BatchNorm2d(out),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride=stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))
