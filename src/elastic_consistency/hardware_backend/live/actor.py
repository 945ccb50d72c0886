"""One rank of a live run: it does operations on its executor and logs what it did."""

import time
from typing import Any, final

import numpy as np
import torch

from elastic_consistency.execution import Executor
from elastic_consistency.hardware_backend.live.clock import Clock
from elastic_consistency.hardware_backend.live.log import Entry, Log
from elastic_consistency.hardware_backend.live.protocol import LiveOrder
from elastic_consistency.hardware_backend.live.record import Record
from elastic_consistency.hardware_backend.processes.rank_process import Rank
from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import ABSENT, WHOLE_MODEL, Metadata, Op, Rows

_MESSAGES_A_RANK = 2**40


@final
class Actor:
    """A rank at work.

    Args:
        rank: Its place among the others.
        order: What all ranks were told.
        clock: Its clock, already compared with the others.
        record: Where it writes down what it does.
    """

    def __init__(self, rank: Rank, order: LiveOrder, clock: Clock, record: Record) -> None:
        self._record = record
        self.rank, self.order, self.clock = rank, order, clock
        self.worker = order.protocol.worker_of(rank.number)
        self.log = Log()
        hosts = order.protocol.hosts(order.n_workers)
        metadata = Metadata(order.n_workers, hosts, order.block_sizes)
        self.start = torch.tensor(order.start())
        self.executor = Executor(
            metadata,
            order.oracle,
            order.rule,
            seeds=(order.seed,),
            start=self.start,
            codec=order.codec,
        )
        self.peers = Stream(order.seed, Cause.TOPOLOGY, self.worker)
        self._pauses = Stream(order.seed, Cause.COMPUTE, self.worker)
        self._versions = [0] * len(hosts)
        self._read_at: dict[int, int] = {}
        self._messages = 0

    def new_job(self, worker: int | None = None, *, round: int = ABSENT) -> int:
        """Number of a new job, the next one over all ranks."""
        job = self.rank.store.add("jobs", 1) - 1
        self.declare(job, self.worker if worker is None else worker, round=round)
        return job

    def declare(self, job: int, worker: int, *, round: int = ABSENT) -> None:
        """Note a job whose number is known without asking."""
        self.log.workers[job] = worker
        if round != ABSENT:
            self.log.rounds[job] = round

    def new_message(self, *, moves: bool = False) -> int:
        """Number of a new message, unique over all ranks."""
        self._messages += 1
        number = self.rank.number * _MESSAGES_A_RANK + self._messages
        if moves:
            self.log.moved.add(number)
        return number

    def do(self, op: Op, **operands: Any) -> None:
        """Log an operation and execute it."""
        self.note(op, **operands)
        self.execute(op, **operands)

    def note(self, op: Op, **operands: Any) -> None:
        """Log an operation that is executed elsewhere."""
        entry = Entry(self.clock.now(), op, **operands)
        self.log.entries.append(entry)
        self._record.write(entry)
        replica = operands.get("replica", ABSENT)
        if op is Op.READ:
            self._read_at.setdefault(operands["job"], self._versions[replica])
        elif op in (Op.STEP, Op.MIX):
            self._versions[replica] += 1
        elif op is Op.DROP:
            self._read_at.pop(operands.get("job", ABSENT), None)

    def execute(self, op: Op, **operands: Any) -> None:
        """Execute an operation that is logged elsewhere."""
        job, replica = operands.get("job", ABSENT), operands.get("replica", ABSENT)
        stale = self._versions[replica] - self._read_at.get(job, self._versions[replica])
        rows = Rows(
            time=np.zeros(1),
            op=np.array([op], np.int8),
            worker=np.array([self.worker], np.int32),
            job=np.array([job]),
            message=np.array([operands.get("message", ABSENT)]),
            replica=np.array([replica]),
            block=np.array([operands.get("block", WHOLE_MODEL)]),
            weight=np.array([operands.get("weight", 1.0)]),
            keep=np.array([operands.get("keep", -1.0)]),
        )
        self.executor.execute(rows, iter([stale]))

    def compute(self, job: int) -> None:
        """Compute and encode: the gradient, the pause of this worker, the end."""
        self.log.begins[job] = self.clock.now()
        self.execute(Op.GRADIENT, job=job)
        if self.order.pauses:
            mean = self.order.pauses[self.worker]
            time.sleep(mean * (0.5 + self._pauses.draw()))
        self.do(Op.ENCODE, job=job)
        self.advance()

    def read_and_compute(self, job: int, replica: int) -> None:
        """A whole job on a replica of one's own."""
        self.do(Op.READ, job=job, replica=replica)
        self.compute(job)

    def apply(self, job: int, replica: int, *, share: float = 1.0) -> None:
        """ADD, STEP and DROP of an own or received update."""
        self.do(Op.ADD, job=job, replica=replica)
        self.do(Op.STEP, replica=replica)
        self.do(Op.DROP, job=job, share=share)

    def advance(self) -> None:
        """A sign of progress."""
        self.rank.progress.row += 1

    def waiting(self) -> "_Waiting":
        """Context in which this rank waits for another one."""
        return _Waiting(self.rank)


@final
class _Waiting:
    def __init__(self, rank: Rank) -> None:
        self._progress = rank.progress

    def __enter__(self) -> None:
        self._progress.waiting = True

    def __exit__(self, *_exception: object) -> None:
        self._progress.waiting = False
