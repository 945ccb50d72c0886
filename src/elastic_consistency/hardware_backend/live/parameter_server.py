"""A live parameter server: it applies each update as it arrives, from whoever sends it."""

from dataclasses import dataclass
from typing import final

import torch
import torch.distributed as dist

from elastic_consistency.hardware_backend.live.actor import Actor
from elastic_consistency.hardware_backend.live.protocol import AbstractLiveProtocol
from elastic_consistency.schedule import SERVER, Op

_NO_MORE = -1.0


@final
@dataclass(frozen=True, slots=True)
class LiveServer(AbstractLiveProtocol):
    """Rank 0 is the server, rank w + 1 is worker w.

    gloo receives from any source; where a backend cannot (NCCL), workers draw arrival tickets
    from the shared store and the server serves them in that order.

    Attributes:
        tickets: Use arrival tickets although the backend can receive from any source.
    """

    tickets: bool = False

    @property
    def weighs_staleness(self):
        return True

    def hosts(self, n_workers):
        return (SERVER,)

    def n_ranks(self, n_workers):
        return n_workers + 1

    def worker_of(self, rank):
        return rank - 1

    def act(self, actor):
        if actor.worker == SERVER:
            _serve(actor, tickets=self.tickets)
        else:
            _work(actor, tickets=self.tickets)


def _serve(actor: Actor, *, tickets: bool) -> None:
    n_workers, left = actor.order.n_workers, actor.order.jobs
    held: dict[int, int] = {}
    for worker in range(min(n_workers, left)):
        held[worker] = _hand_out(actor, worker)
        left -= 1
    arrivals = 0
    while held:
        update = torch.empty_like(actor.start)
        with actor.waiting():
            source = _next_arrival(actor, arrivals) if tickets else None
            source = dist.recv(update, source)
        arrivals += 1
        job = held.pop(source - 1)
        actor.executor.place_update(job, (), update)
        actor.apply(job, 0)
        actor.advance()
        if left > 0:
            held[source - 1] = _hand_out(actor, source - 1)
            left -= 1
    for worker in range(n_workers):
        dist.send(_parcel(actor, _NO_MORE), worker + 1)


def _next_arrival(actor: Actor, number: int) -> int:
    return int(actor.rank.store.get(f"arrival/{number}"))


def _hand_out(actor: Actor, worker: int) -> int:
    """The worker's view is the model as it is when it leaves the server."""
    job = actor.new_job(worker)
    actor.note(Op.READ, job=job, replica=0)
    dist.send(_parcel(actor, float(job)), worker + 1)
    return job


def _parcel(actor: Actor, job: float) -> torch.Tensor:
    head = torch.full((1, 1), job, dtype=actor.start.dtype)
    return torch.cat([head, actor.executor.model_part(0, ())], dim=1)


def _work(actor: Actor, *, tickets: bool) -> None:
    parcel = torch.empty(1, actor.start.shape[1] + 1, dtype=actor.start.dtype)
    while True:
        with actor.waiting():
            dist.recv(parcel, 0)
        job = int(parcel[0, 0])
        if job < 0:
            return
        actor.executor.place_model(0, (), parcel[:, 1:].clone(), 1.0)
        actor.execute(Op.READ, job=job, replica=0)
        actor.compute(job)
        update = actor.executor.update_part(job, ()).contiguous()
        if tickets:
            number = actor.rank.store.add("arrivals", 1) - 1
            actor.rank.store.set(f"arrival/{number}", str(actor.rank.number))
        dist.send(update, 0)
        actor.execute(Op.DROP, job=job)
