"""Any torch module, loss and data set, as an oracle."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import torch
from torch.func import functional_call

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import like
from elastic_consistency.optimization.oracles.base import AbstractOracle, unknown_constants
from elastic_consistency.optimization.oracles.shards import Shards

Array = Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class TorchModule(AbstractOracle):
    """f(w) = sum_i weight_i loss(module_w(x_i), y_i), with gradients by torch's autograd.

    The module is copied; its parameters, flattened in the order of `named_parameters`, are the
    model, and their values the start. Views may be NumPy arrays or tensors; gradients come back
    in kind. Replicates are computed one after the other.

    *Dropout* is active in `gradient` only. Its masks come from torch's generator, seeded by one
    more uniform of the job, and the generator's own state is restored. *Batch normalisation*
    always uses the statistics of the samples at hand, and running statistics stay as they were:
    a gradient is a function of view and job alone. Note that the mean of gradients on batches is
    then not the gradient of `loss`, which normalises over all data: unbiasedness fails.

    Constants: only what is known without looking inside, which is nothing; a loss that is
    never negative can say so by `infimum`.

    Attributes:
        module: Maps a batch of inputs to outputs.
        objective: Maps (outputs, targets) to the (samples,) losses, unreduced.
        inputs: (N, ...) tensor.
        targets: (N, ...) tensor.
        batch: Samples of one stochastic gradient, >= 1.
        infimum: Lower bound of the loss, None if unknown.
        shards: Samples of each worker; None lets every worker draw from all samples.
    """

    module: torch.nn.Module
    objective: Any
    inputs: torch.Tensor
    targets: torch.Tensor
    batch: int
    infimum: float | None = None
    shards: Shards | None = None
    samples: Shards = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n_samples = len(self.inputs)
        check(n_samples > 0, self, "inputs", "an (N, ...) tensor with N >= 1")
        check(len(self.targets) == n_samples, self, "targets", f"a tensor of {n_samples} rows")
        check(self.batch >= 1, self, "batch", "a number of samples >= 1")
        fits = self.shards is None or self.shards.n_samples == n_samples
        check(fits, self, "shards", f"None or Shards of {n_samples} samples")
        object.__setattr__(self, "samples", self.shards or Shards(n_samples))
        object.__setattr__(self, "module", deepcopy(self.module))

    @property
    def dimension(self):
        return sum(parameter.numel() for parameter in self.module.parameters())

    @property
    def draws_per_job(self):
        return self.batch + 1

    def start(self):
        flat = [parameter.detach().reshape(-1) for parameter in self.module.parameters()]
        return torch.cat(flat).to("cpu", torch.float64).numpy()

    def gradient(self, view, draws, worker):
        rows = []
        for row, uniforms in zip(self._tensor(view), draws, strict=True):
            chosen = self.samples.indices(uniforms[:-1], worker)
            weights = np.full(self.batch, 1 / self.batch)
            seed = int(uniforms[-1] * 2**53)
            rows.append(self._gradient(row, chosen, weights, seed))
        return self._returned(view, torch.stack(rows))

    def mean_gradient(self, x):
        return self._full_gradient(x, self.samples.weights())

    def worker_mean_gradient(self, x, worker):
        return self._full_gradient(x, self.samples.weights_of(worker))

    def loss(self, x):
        weights, chosen = self.samples.weights(), np.arange(len(self.inputs))
        with torch.no_grad():
            losses = [self._loss(row, chosen, weights, None) for row in self._tensor(x)]
        return self._returned(x, torch.stack(losses))

    def minimiser(self):
        return None

    def constants(self, radius=float("inf")):
        return unknown_constants(self.infimum, radius, shared=len(self.samples.members) <= 1)

    def _full_gradient(self, x, weights):
        chosen = np.flatnonzero(weights)
        rows = [self._gradient(row, chosen, weights[chosen], None) for row in self._tensor(x)]
        return self._returned(x, torch.stack(rows))

    def _tensor(self, x: Array) -> torch.Tensor:
        parameter = next(self.module.parameters())
        if not isinstance(x, torch.Tensor):
            x = torch.tensor(np.asarray(x))
        return x.to(parameter.device, parameter.dtype)

    def _returned(self, x: Array, values: torch.Tensor) -> Array:
        values = values.detach()
        if isinstance(x, torch.Tensor):
            return values.to(x.device, x.dtype)
        return like(x, values.cpu().numpy())

    def _gradient(self, row, chosen, weights, seed):
        row = row.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(self._loss(row, chosen, weights, seed), row)
        return gradient

    def _loss(
        self, row: torch.Tensor, chosen: np.ndarray, weights: np.ndarray, seed: int | None
    ) -> torch.Tensor:
        index = torch.from_numpy(chosen).to(self.inputs.device)
        inputs, targets = self.inputs[index], self.targets[index]
        with torch.random.fork_rng(devices=_cuda_devices(row)):
            if seed is not None:
                torch.manual_seed(seed)
            outputs = self._call(row, inputs, dropout=seed is not None)
        losses = self.objective(outputs, targets)
        return (losses * torch.as_tensor(weights, dtype=row.dtype, device=row.device)).sum()

    def _call(self, row: torch.Tensor, inputs: torch.Tensor, *, dropout: bool) -> Any:
        self.module.train()
        for part in self.module.modules():
            if isinstance(part, torch.nn.modules.dropout._DropoutNd):
                part.train(dropout)
        state: dict[str, torch.Tensor] = dict(self._parameters(row))
        # Copies, so that batch normalisation updates nothing that outlives the call.
        state.update({name: buffer.clone() for name, buffer in self.module.named_buffers()})
        return functional_call(self.module, state, (inputs,))

    def _parameters(self, row):
        first = 0
        for name, parameter in self.module.named_parameters():
            last = first + parameter.numel()
            yield name, row[first:last].reshape(parameter.shape)
            first = last


def _cuda_devices(row: torch.Tensor) -> list[int]:
    return [row.device.index or 0] if row.device.type == "cuda" else []
