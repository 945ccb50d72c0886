"""Live synchronous training: every round ends in one all-reduce."""

from dataclasses import dataclass
from typing import final

import torch.distributed as dist

from elastic_consistency.hardware_backend.live.protocol import AbstractLiveProtocol
from elastic_consistency.schedule import Op


@final
@dataclass(frozen=True, slots=True)
class LiveAllReduce(AbstractLiveProtocol):
    """Rank w is worker w with a replica of its own; the slowest one sets the pace."""

    def hosts(self, n_workers):
        return tuple(range(n_workers))

    def n_ranks(self, n_workers):
        return n_workers

    def worker_of(self, rank):
        return rank

    def act(self, actor):
        share = 1 / actor.order.n_workers
        for round in range(actor.order.jobs):
            job, message = round * actor.order.n_workers + actor.worker, round
            actor.declare(job, actor.worker, round=round)
            actor.read_and_compute(job, actor.worker)
            actor.do(Op.PUT, job=job, message=message, weight=share)
            total = actor.executor.message_part(message, ()).clone()
            with actor.waiting():
                dist.all_reduce(total)
            actor.executor.place_message(message, (), total, 0.0)
            actor.do(Op.ADD, message=message, replica=actor.worker)
            actor.do(Op.STEP, replica=actor.worker)
            actor.do(Op.DROP, job=job, share=share)
            actor.execute(Op.DROP, message=message)
