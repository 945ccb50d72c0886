"""Step times of layer-wise schedulers on two equal nodes, as a recursion over steps."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import final

import numpy as np

from elastic_consistency.simulator import LayerProfile

Transfers = Callable[[int], float]


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """Two equal nodes and their link.

    Attributes:
        profile: The layers.
        compute_s: Forward and backward pass, s.
        latency_s: Of one message of an all-reduce of two nodes, which takes two, s.
        jitter_s: Standard deviation of its normal jitter, s.
        bytes_per_s: Bandwidth of the link; bytes are 4 a parameter.
        pipelined: Whether a layer may be sent while another is on its way, so that bytes wait
            for each other but latencies do not; else one all-reduce is on the link at a time.
    """

    profile: LayerProfile
    compute_s: float
    latency_s: float
    jitter_s: float
    bytes_per_s: float
    pipelined: bool = False

    def transfer_s(self, layer: int, rng: np.random.Generator) -> tuple[float, float]:
        """Seconds of bytes and of latency of the next all-reduce of a layer, a ring of two."""
        waits = sum(max(0.0, rng.normal(self.latency_s, self.jitter_s)) for _ in range(2))
        return 4 * self.profile.sizes()[layer] / self.bytes_per_s, waits

    def ratio(self) -> float:
        """Transfer of the whole model on a free link, relative to the computation."""
        sizes = self.profile.sizes()
        waits = 2 * self.latency_s * (1 if self.pipelined else len(sizes))
        return (4 * sum(sizes) / self.bytes_per_s + waits) / self.compute_s


def mean_step_seconds(
    setting: Setting, shares: np.ndarray, beta: float, *, steps: int = 30, seed: int = 0
) -> float:
    """Mean seconds a step; beta = 1 is the cross-barrier scheduler.

    A forward pass goes layer by layer and waits for each layer of the last step, until the
    synchronised layers hold the share `beta` of the gradient's norm: from then on it waits only
    for layers of the step before the last.

    Args:
        setting: Nodes and link.
        shares: (layers,) part of each layer in the squared norm of a gradient.
        beta: In [0, 1].
        steps: Steps.
        seed: Of the jitter.
    """
    rng = np.random.default_rng(seed)
    forward, backward = (np.array(p) * setting.compute_s for p in setting.profile.parts())
    layers = len(forward)
    link = _Link(setting, rng)
    before, last = np.zeros(layers), np.zeros(layers)
    now = 0.0
    for _ in range(steps):
        opens = _open_time(last, shares, beta)
        for layer in range(layers):
            due = max(before[layer], min(last[layer], opens))
            now = max(now, due) + forward[layer]
        ready = now + np.cumsum(backward[::-1])[::-1]
        now = float(ready[0])
        before, last = np.maximum(before, last), link.synchronise(ready)
    return now / steps


def _open_time(done: np.ndarray, shares: np.ndarray, beta: float) -> float:
    """When the layers that are synchronised hold the share beta of the norm."""
    order = np.argsort(done, kind="stable")
    reached = np.cumsum(shares[order]) / shares.sum() >= beta**2 - 1e-12
    return float(done[order][np.argmax(reached)])


@final
class _Link:
    """The link with its priorities, and when it is free again."""

    def __init__(self, setting: Setting, rng: np.random.Generator) -> None:
        self._setting, self._rng, self._free = setting, rng, 0.0

    def synchronise(self, ready: np.ndarray) -> np.ndarray:
        """(layers,) when each layer is synchronised; the first layers go first."""
        done, waiting = np.empty(len(ready)), []
        arrivals = [int(k) for k in np.argsort(ready, kind="stable")]
        while arrivals or waiting:
            begin = self._free
            if not waiting:
                begin = max(begin, float(ready[arrivals[0]]))
            while arrivals and ready[arrivals[0]] <= begin:
                heappush(waiting, arrivals.pop(0))
            layer = heappop(waiting)
            sending, waits = self._setting.transfer_s(layer, self._rng)
            done[layer] = begin + sending + waits
            self._free = begin + sending if self._setting.pipelined else float(done[layer])
        return done
