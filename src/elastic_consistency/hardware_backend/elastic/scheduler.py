"""Data-parallel training in which no layer waits longer than its policy demands."""

from dataclasses import dataclass
from typing import Any, final

import torch
import torch.distributed as dist

from elastic_consistency.hardware_backend.elastic.latency import Latency
from elastic_consistency.hardware_backend.elastic.layers import Layer, layers_of
from elastic_consistency.hardware_backend.elastic.link import PriorityLink
from elastic_consistency.hardware_backend.elastic.policies import AbstractPolicy


@final
@dataclass(frozen=True, slots=True)
class Decision:
    """What the forward pass did about one layer of one step.

    Attributes:
        step: The backward pass that the layer's message belongs to.
        layer: Number of the layer.
        stood_in: Whether the own gradient stood in for the missing message.
    """

    step: int
    layer: int
    stood_in: bool


@final
@dataclass(slots=True)
class _Debt:
    """The update of one layer from one step, not yet applied as it should be."""

    step: int
    own: torch.Tensor
    squared_norm: float
    stood_in: bool = False


@final
class ElasticScheduler(torch.nn.Module):
    """Wraps a module for data-parallel descent x <- x - step_size * mean gradient.

    Backward hooks hand each layer's gradient over as soon as it is there; forward pre-hooks
    apply a layer's mean just before the layer is used, and the policy says what happens if that
    has not arrived: wait, or let the own gradient stand in and put it right one step later. The
    rule is plain SGD, since a momentum that lives here would count a stand-in as a step.

    One backward pass a step; call `finish` before evaluating or exporting the module, and
    `close` at the end, both on all ranks. Buffers (of batch normalisation) stay each rank's own.

    Args:
        module: Equal on all ranks; rank 0's parameters are broadcast.
        step_size: alpha, > 0.
        policy: When to wait.
        latency: Injected into every message.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        *,
        step_size: float,
        policy: AbstractPolicy,
        latency: Latency | None = None,
    ) -> None:
        super().__init__()
        if not 0 < step_size < float("inf"):
            raise ValueError(
                f"ElasticScheduler.step_size must be a finite number > 0, got {step_size!r}."
            )
        self.module, self.step_size, self.policy = module, step_size, policy
        self.decisions: list[Decision] = []
        self._layers = layers_of(module)
        self._n_ranks = dist.get_world_size()
        for layer in self._layers:
            for parameter in layer.parameters:
                dist.broadcast(parameter.data, 0)
        self._step = 0
        self._total = self._closed_total = 0.0  # squared norms of this step and of the last one
        self._debts: list[list[_Debt]] = [[] for _ in self._layers]
        self._missing = [len(layer.parameters) for layer in self._layers]
        device = self._layers[0].parameters[0].device
        self._link = PriorityLink(latency or Latency(), device)
        self._install_hooks()

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """The module's output."""
        self._close_step()
        if self.policy.waits_for_all:
            self.finish()
        return self.module(*inputs, **options)

    def finish(self) -> None:
        """Wait for everything under way and apply it."""
        self._close_step()
        for layer in self._layers:
            self._settle(layer, keep=0)

    def close(self) -> None:
        """Finish, and end the communication."""
        self.finish()
        self._link.close()

    def get_extra_state(self) -> dict[str, Any]:
        """Everything but parameters: steps, and what has arrived but is not yet applied.

        It waits for what is under way and changes no parameter, so that a run that goes on and
        one that resumes from here are the same run. All ranks must save, each its own.
        """
        self._close_step()
        debts = [
            (layer.number, d.step, d.own, d.squared_norm, d.stood_in,
             self._link.peek((d.step, layer.number)).clone())
            for layer in self._layers
            for d in self._debts[layer.number]
        ]  # fmt: skip
        return {"step": self._step, "squared_norm": self._closed_total, "debts": debts}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Resume from what `get_extra_state` returned on this rank."""
        self._step, self._closed_total = state["step"], state["squared_norm"]
        self._debts = [[] for _ in self._layers]
        for number, step, own, squared_norm, stood_in, mean in state["debts"]:
            self._debts[number].append(_Debt(step, own.clone(), squared_norm, stood_in))
            self._link.put_back((step, number), mean.clone())

    def _install_hooks(self) -> None:
        for layer in self._layers:
            layer.module.register_forward_pre_hook(self._before_forward(layer))
            for parameter in layer.parameters:
                parameter.register_post_accumulate_grad_hook(self._after_backward(layer))

    def _before_forward(self, layer: Layer) -> Any:
        def hook(_module: torch.nn.Module, _inputs: Any) -> None:
            if not torch.is_grad_enabled():
                self._settle(layer, keep=0)
                return
            # What is a whole step late must be put right before anything new is applied.
            self._settle(layer, keep=1)
            debts = self._debts[layer.number]
            if debts and not debts[-1].stood_in:
                self._decide(layer, debts[-1])

        return hook

    def _after_backward(self, layer: Layer) -> Any:
        def hook(_parameter: torch.Tensor) -> None:
            self._missing[layer.number] -= 1
            if self._missing[layer.number] == 0:
                self._submit(layer)

        return hook

    def _submit(self, layer: Layer) -> None:
        own = layer.gradient()
        debt = _Debt(self._step, own, float(own.square().sum()))
        self._debts[layer.number].append(debt)
        self._total += debt.squared_norm
        self._link.submit((self._step, layer.number), own / self._n_ranks)

    def _close_step(self) -> None:
        """After a backward pass: layers that got no gradient take part with zeros."""
        begun = [d for debts in self._debts for d in debts if d.step == self._step]
        if not begun:
            return
        for layer in self._layers:
            if not any(d.step == self._step for d in self._debts[layer.number]):
                self._submit(layer)
        self._missing = [len(layer.parameters) for layer in self._layers]
        self._closed_total, self._total = self._total, 0.0
        self._step += 1

    def _decide(self, layer: Layer, debt: _Debt) -> None:
        key = (debt.step, layer.number)
        while True:
            known = self._link.n_arrived()
            if self._link.has_arrived(key):
                self._settle(layer, keep=0)
                break
            if self._may_proceed(debt.step):
                debt.stood_in = True
                weight = self.policy.stand_in(self._n_ranks)
                layer.add(debt.own, -self.step_size * weight)
                break
            # What arrives for other layers may be what the policy asks for.
            self._link.await_more(known)
        self.decisions.append(Decision(*key, debt.stood_in))

    def _may_proceed(self, step: int) -> bool:
        """The policy's answer, from what has arrived by now of the own gradient of `step`."""
        debts = [(n, d) for n, debts in enumerate(self._debts) for d in debts if d.step == step]
        missing = sum(d.squared_norm for n, d in debts if not self._link.has_arrived((step, n)))
        return self.policy.proceeds(max(0.0, self._closed_total - missing), self._closed_total)

    def _settle(self, layer: Layer, *, keep: int) -> None:
        """Wait for all but the last `keep` messages of a layer and apply them."""
        debts = self._debts[layer.number]
        while len(debts) > keep:
            debt = debts.pop(0)
            mean = self._link.take((debt.step, layer.number))
            if debt.stood_in:
                weight = self.policy.stand_in(self._n_ranks)
                layer.add(debt.own, self.step_size * weight)
            layer.add(mean, -self.step_size)
