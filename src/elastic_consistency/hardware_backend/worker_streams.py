"""A stream for each worker of a rank, so that workers who share a device compute side by side."""

from collections.abc import Iterable, Iterator
from typing import Any, final

import numpy as np
import torch

from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.schedule import Op

_OP, _WORKER = 0, 1  # places in a record


@final
class WorkerStreams:
    """Gradients of an oracle, each enqueued on the stream of its worker.

    Everything else stays on the current stream, which waits for a gradient only where the
    schedule says that it is finished: at its ENCODE. What lies between GRADIENT and ENCODE, other
    workers' gradients above all, goes on meanwhile. The same calls run on a CPU, whose streams
    do nothing.

    Args:
        oracle: The problem.
        device: Where it is computed.
    """

    def __init__(self, oracle: AbstractOracle, device: torch.device) -> None:
        self._oracle, self._module = oracle, torch.get_device_module(device)
        self._streams: dict[int, Any] = {}
        # A view must outlive the kernels that read it; the allocator knows only of its own stream.
        self._read: dict[int, torch.Tensor] = {}
        self.draws_per_job = oracle.draws_per_job

    def gradient(self, view: torch.Tensor, draws: np.ndarray, worker: int) -> torch.Tensor:
        """(R, d) stochastic gradients, which `joined` makes safe to use."""
        if worker not in self._streams:
            self._streams[worker] = self._module.Stream()
        stream = self._streams[worker]
        stream.wait_stream(self._module.current_stream())
        self._read[worker] = view
        with self._module.stream(stream):
            return self._oracle.gradient(view, draws, worker)

    def joined(self, records: Iterable[Any]) -> Iterator[Any]:
        """The records, with a wait before each ENCODE."""
        for record in records:
            if record[_OP] == Op.ENCODE and record[_WORKER] in self._read:
                stream = self._streams[record[_WORKER]]
                self._module.current_stream().wait_stream(stream)
                del self._read[record[_WORKER]]
            yield record
