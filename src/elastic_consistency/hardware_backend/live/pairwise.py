"""Live pairwise averaging: a worker with a fresh gradient averages with a random peer."""

import threading
from dataclasses import dataclass
from typing import final

import torch
import torch.distributed as dist

from elastic_consistency.hardware_backend.live.actor import Actor
from elastic_consistency.hardware_backend.live.protocol import AbstractLiveProtocol
from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import Op


@final
@dataclass(frozen=True, slots=True)
class LivePairwise(AbstractLiveProtocol):
    """AD-PSGD: even workers ask, odd ones answer at any time, so that no circle can wait.

    A worker reads, computes, averages (if it is even) and then applies its gradient to what the
    model has become. An odd worker is averaged with while it computes.

    Source: Lian, Zhang, Zhang, Liu (2018), arXiv:1710.06952.
    """

    def hosts(self, n_workers):
        return tuple(range(n_workers))

    def n_ranks(self, n_workers):
        if n_workers < 2:
            raise ValueError(f"LivePairwise needs at least 2 workers, got {n_workers}.")
        return n_workers

    def worker_of(self, rank):
        return rank

    def act(self, actor):
        if actor.worker % 2 == 0:
            _ask(actor)
        else:
            _answer(actor)


def meetings_of(seed: int, worker: int, n_workers: int, jobs: int) -> list[int]:
    """The odd worker that an even one meets after each of its gradients."""
    stream = Stream(seed, Cause.TOPOLOGY, worker)
    return [1 + 2 * int(stream.draw() * (n_workers // 2)) for _ in range(jobs)]


def _ask(actor: Actor) -> None:
    order, worker = actor.order, actor.worker
    for peer in meetings_of(order.seed, worker, order.n_workers, order.jobs):
        job = actor.new_job()
        actor.read_and_compute(job, worker)
        there = actor.new_message()
        actor.do(Op.PUT, message=there, replica=worker)
        mine = actor.executor.message_part(there, ())
        head = torch.tensor([[there]], dtype=mine.dtype)
        parcel = torch.cat([head, mine], dim=1)
        with actor.waiting():
            dist.send(parcel, peer)
            dist.recv(parcel, peer)
        actor.execute(Op.DROP, message=there)
        _mix(actor, parcel)
        actor.apply(job, worker, share=1 / order.n_workers)


def _answer(actor: Actor) -> None:
    lock, failures = threading.Lock(), list[RuntimeError]()
    listener = threading.Thread(target=_listen, args=(actor, lock, failures), daemon=True)
    listener.start()
    for _ in range(actor.order.jobs):
        with lock:
            job = actor.new_job()
            actor.do(Op.READ, job=job, replica=actor.worker)
        actor.compute(job)
        with lock:
            actor.apply(job, actor.worker, share=1 / actor.order.n_workers)
    with actor.waiting():
        listener.join()
    if failures:
        raise ConnectionError("A peer is gone.") from failures[0]


def _listen(actor: Actor, lock: threading.Lock, failures: list[RuntimeError]) -> None:
    order = actor.order
    expected = sum(
        meetings_of(order.seed, asker, order.n_workers, order.jobs).count(actor.worker)
        for asker in range(0, order.n_workers, 2)
    )
    parcel = torch.empty(1, actor.start.shape[1] + 1, dtype=actor.start.dtype)
    try:
        for _ in range(expected):
            source = dist.recv(parcel)
            with lock:
                back = actor.new_message()
                actor.do(Op.PUT, message=back, replica=actor.worker)
                mine = actor.executor.message_part(back, ())
                _mix(actor, parcel)
            head = torch.tensor([[back]], dtype=mine.dtype)
            dist.send(torch.cat([head, mine], dim=1), source)
            actor.execute(Op.DROP, message=back)
    except RuntimeError as error:
        failures.append(error)


def _mix(actor: Actor, parcel: torch.Tensor) -> None:
    number = int(parcel[0, 0])
    actor.executor.place_message(number, (), parcel[:, 1:].clone(), 1.0)
    actor.do(Op.MIX, message=number, replica=actor.worker, weight=0.5, keep=0.5)
    actor.execute(Op.DROP, message=number)
