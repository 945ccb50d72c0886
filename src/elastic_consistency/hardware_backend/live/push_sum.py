"""Live push-sum: half of model and mass to one peer a step, waiting or not for what comes in."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2
from queue import Empty, SimpleQueue
from typing import final

import torch
import torch.distributed as dist

from elastic_consistency._checks import check
from elastic_consistency.hardware_backend.live.actor import Actor
from elastic_consistency.hardware_backend.live.protocol import AbstractLiveProtocol
from elastic_consistency.schedule import Op

_HEAD = 3  # mass, number of the message, step of the sender


@final
@dataclass(frozen=True, slots=True)
class LivePushSum(AbstractLiveProtocol):
    """Rank w is worker w; at step k it pushes to w + 2^(k mod ceil(log2 n)).

    With `overlap` 0 a worker waits for everything sent to it up to its own step (SGP); with
    `overlap` t only for what was sent up to t steps before (OSGP), and takes whatever else has
    arrived meanwhile.

    Attributes:
        overlap: t >= 0 steps.

    Source: Assran, Loizou, Ballas, Rabbat (2019), arXiv:1811.10792.
    """

    overlap: int = 0

    def __post_init__(self) -> None:
        check(self.overlap >= 0, self, "overlap", "a number of steps >= 0")

    def hosts(self, n_workers):
        return tuple(range(n_workers))

    def n_ranks(self, n_workers):
        if n_workers < 2:
            raise ValueError(f"LivePushSum needs at least 2 workers, got {n_workers}.")
        return n_workers

    def worker_of(self, rank):
        return rank

    def act(self, actor):
        inbox = _Inbox(actor)
        for step in range(actor.order.jobs):
            job = actor.new_job()
            actor.read_and_compute(job, actor.worker)
            actor.apply(job, actor.worker, share=1 / actor.order.n_workers)
            _push(actor, step)
            inbox.take_what_is_here()
            inbox.wait_for(step - self.overlap)
        inbox.wait_for(actor.order.jobs - 1)


def peer_of(worker: int, step: int, n_workers: int) -> int:
    """Who gets the push of `worker` at `step`."""
    hops = max(1, ceil(log2(n_workers)))
    return (worker + 2 ** (step % hops)) % n_workers


def senders_to(worker: int, step: int, n_workers: int) -> Iterator[int]:
    """Who pushes to `worker` at `step`."""
    return (w for w in range(n_workers) if peer_of(w, step, n_workers) == worker)


def _push(actor: Actor, step: int) -> None:
    message, worker = actor.new_message(moves=True), actor.worker
    mass = actor.executor.mass(worker)
    actor.do(Op.PUT, message=message, replica=worker, weight=0.5, keep=0.5)
    half = actor.executor.message_part(message, ())
    head = torch.tensor([[0.5 * mass, message, step]], dtype=half.dtype)
    parcel = torch.cat([head, half], dim=1)
    peer = peer_of(worker, step, actor.order.n_workers)
    # Peers receive in a thread of their own, so that nobody waits to be listened to.
    with actor.waiting():
        dist.send(parcel, peer)
    actor.execute(Op.DROP, message=message)


@final
class _Inbox:
    """Messages that arrive in a thread of their own; how many will come is known."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._queue: SimpleQueue[torch.Tensor | Exception] = SimpleQueue()
        self._missing = {
            step: sum(1 for _ in senders_to(actor.worker, step, actor.order.n_workers))
            for step in range(actor.order.jobs)
        }
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        width = self._actor.start.shape[1] + _HEAD
        try:
            for _ in range(sum(self._missing.values())):
                parcel = torch.empty(1, width, dtype=self._actor.start.dtype)
                dist.recv(parcel)
                self._queue.put(parcel)
        except RuntimeError as error:
            self._queue.put(error)

    def take_what_is_here(self) -> None:
        try:
            while True:
                self._take(self._queue.get_nowait())
        except Empty:
            return

    def wait_for(self, step: int) -> None:
        """Take messages until all that were sent at `step` or earlier are here."""
        while any(count for sent, count in self._missing.items() if sent <= step):
            with self._actor.waiting():
                parcel = self._queue.get()
            self._take(parcel)

    def _take(self, parcel: torch.Tensor | Exception) -> None:
        if isinstance(parcel, Exception):
            raise ConnectionError("A peer is gone.") from parcel
        mass, message, step = (float(parcel[0, k]) for k in range(_HEAD))
        number, actor = int(message), self._actor
        actor.executor.place_message(number, (), parcel[:, _HEAD:], mass)
        actor.do(Op.MIX, message=number, replica=actor.worker, keep=1.0)
        actor.execute(Op.DROP, message=number)
        self._missing[int(step)] -= 1
