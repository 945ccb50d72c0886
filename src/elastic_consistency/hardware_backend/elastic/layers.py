"""The layers of a module: what is reduced, waited for and updated as one."""

from dataclasses import dataclass
from typing import final

import torch


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A submodule with the parameters that it holds itself.

    Attributes:
        number: Position among the layers, in the order of registration.
        name: Name in the whole module.
        module: The submodule.
        parameters: Its own trainable parameters.
    """

    number: int
    name: str
    module: torch.nn.Module
    parameters: tuple[torch.nn.Parameter, ...]

    def gradient(self) -> torch.Tensor:
        """Its gradient as one vector, 0 where there is none; the parameters' own are cleared."""
        parts = [
            torch.zeros_like(p).reshape(-1) if p.grad is None else p.grad.reshape(-1)
            for p in self.parameters
        ]
        vector = torch.cat(parts)
        for parameter in self.parameters:
            parameter.grad = None
        return vector

    @torch.no_grad()
    def add(self, vector: torch.Tensor, weight: float) -> None:
        """parameters += weight * vector, as torch's own SGD does it."""
        first = 0
        for parameter in self.parameters:
            last = first + parameter.numel()
            parameter.add_(vector[first:last].view_as(parameter), alpha=weight)
            first = last


def layers_of(module: torch.nn.Module) -> list[Layer]:
    """Every submodule that holds trainable parameters.

    Raises:
        ValueError: If two of them share a parameter, or if there are none.
    """
    layers: list[Layer] = []
    owners: dict[int, str] = {}
    for name, part in module.named_modules():
        own = tuple(p for p in part.parameters(recurse=False) if p.requires_grad)
        for parameter in own:
            if id(parameter) in owners:
                raise ValueError(
                    "ElasticScheduler needs a module whose layers share no parameter, got one "
                    f"shared by {owners[id(parameter)]!r} and {name!r}."
                )
            owners[id(parameter)] = name
        if own:
            layers.append(Layer(len(layers), name, part, own))
    if not layers:
        raise ValueError("ElasticScheduler needs a module with trainable parameters, got none.")
    return layers
