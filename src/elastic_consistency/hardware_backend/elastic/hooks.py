"""Gradient compression as a communication hook of DistributedDataParallel."""

from typing import Any, final

import numpy as np
import torch
import torch.distributed as dist

from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.random_streams import Cause, uniforms


@final
class CodecHook:
    """Compresses each parameter's gradient before the all-reduce, with any codec.

    Use: `hook = CodecHook(model, ErrorFeedback(TopK(100)))`, then
    `ddp.register_comm_hook(None, hook.compress)`. States (residuals above all) belong to
    parameters and not to buckets, which torch rearranges after the first step and after a
    resumption; they go into the checkpoint with `state_dict`, each rank its own.

    Args:
        module: The wrapped module or the DistributedDataParallel around it.
        codec: The codec; QSGD and the like draw from a stream of this rank and parameter.
        seed: Seed of the draws.
    """

    def __init__(self, module: torch.nn.Module, codec: AbstractCodec, *, seed: int = 0) -> None:
        self._codec, self._seed = codec, seed
        self._names = {
            id(parameter): name.removeprefix("module.")
            for name, parameter in module.named_parameters()
        }
        self._places = {name: place for place, name in enumerate(sorted(self._names.values()))}
        self._states: dict[str, Any] = {}
        self._steps = dict.fromkeys(self._places, 0)

    # torch compares the annotations of a hook with its own classes.
    def compress(
        self, state: object, bucket: dist.GradBucket
    ) -> torch.futures.Future[torch.Tensor]:
        """Replace gradients by what the codec makes of them, and sum them over all ranks."""
        for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
            self._encode(self._names[id(parameter)], gradient)
        buffer = bucket.buffer().div_(dist.get_world_size())
        work = dist.all_reduce(buffer, async_op=True)
        assert work is not None  # this rank is in the default group
        return work.get_future().then(lambda done: done.value()[0])

    def state_dict(self) -> dict[str, Any]:
        """Residuals and positions in the streams, by name of the parameter."""
        return {"states": dict(self._states), "steps": dict(self._steps)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called on this rank.

        Raises:
            ValueError: If the state belongs to other parameters.
        """
        if state["steps"].keys() != self._steps.keys():
            raise ValueError(
                f"CodecHook needs the state of {sorted(self._steps)}, "
                f"got one of {sorted(state['steps'])}."
            )
        self._states, self._steps = dict(state["states"]), dict(state["steps"])

    @torch.no_grad()
    def _encode(self, name: str, gradient: torch.Tensor) -> None:
        vector = gradient.reshape(1, -1)
        if name not in self._states:
            self._states[name] = self._codec.initial(vector)
        step, place = self._steps[name], self._places[name]
        self._steps[name] = step + 1
        worker = dist.get_rank() * len(self._places) + place

        def draws(width: int) -> np.ndarray:
            return uniforms(self._seed, Cause.CODEC, worker, step * width, width)[None]

        # Cloned: a codec may return its input, which the sum then overwrites.
        sent, state = self._codec.encode(self._states[name], vector.clone(), draws)
        self._states[name] = state
        gradient.copy_(sent.view_as(gradient))
