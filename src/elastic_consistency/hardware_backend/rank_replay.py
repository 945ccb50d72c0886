"""One rank's part of a replay: its steps of the lowering, on its own executor."""

from collections import deque
from collections.abc import Iterator
from dataclasses import fields
from itertools import chain, islice
from typing import Any, final

import numpy as np
import torch
import torch.distributed as dist

from elastic_consistency.execution import Executor
from elastic_consistency.execution.executor import Record, records_of
from elastic_consistency.execution.probes.base import Context
from elastic_consistency.hardware_backend.lowering.lower import (
    Carry,
    Launch,
    Lowering,
    Run,
    Step,
    lower,
)
from elastic_consistency.hardware_backend.order import Order, Part
from elastic_consistency.hardware_backend.pacer import Pacer
from elastic_consistency.hardware_backend.processes.rank_process import Rank
from elastic_consistency.hardware_backend.transport import Transport
from elastic_consistency.hardware_backend.worker_streams import WorkerStreams
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.schedule import Op, Rows, Schedule


def replay_rank(rank: Rank, order: Order) -> Part:
    """Replay this rank's part of the schedule."""
    rank.agree("order", order.fingerprint())
    return RankReplay(rank, order).run()


_PIECE = 16  # rows from one sign of progress to the next
_MOST_AHEAD, _BYTES_AHEAD = 32, 2**24  # steps whose operands may land early, and their bytes
_CHUNK = 8192  # rows taken out of their columns at a time


@final
class RankReplay:
    """A rank at work."""

    def __init__(self, rank: Rank, order: Order) -> None:
        self._rank, self._order = rank, order
        self._lowering: Lowering = lower(order.schedule, order.placement, ordered=order.ordered)
        device = place_of(order.device, rank.number)
        start = _start(order, device)
        self._streams = WorkerStreams(order.oracle, device)
        self._observers = self._watch()
        self._executor = Executor(
            order.schedule.metadata,
            self._streams,  # type: ignore[arg-type]  (what an executor needs of an oracle)
            order.rule,
            seeds=order.seeds,
            start=start,
            codec=order.codec,
            observers={int(op): self._observers for op in (Op.STEP, Op.MIX)},
        )
        self._transport = Transport(
            self._executor,
            rank.number,
            start,
            wire=start.device if dist.get_backend() == "nccl" else torch.device("cpu"),
            groups=self._lowering.groups(),
            progress=rank.progress,
        )
        self._records = _records(order.schedule, self._lowering.own_rows(rank.number))
        self._window = min(_MOST_AHEAD, _BYTES_AHEAD // start.nbytes)
        rank.agree("readiness", "ready")
        self._pacer = Pacer(order.schedule.rows.time, order.pace, rank.progress)

    def run(self) -> Part:
        """Execute this rank's rows, exchange what they need, and return what it holds."""
        for observer in self._observers:
            observer.open(self._executor)
        for step in self._ahead(self._lowering.steps(self._rank.number)):
            self._do(step)
        self._transport.finish()
        hosted = self._lowering.hosted(self._rank.number)
        for replica in hosted:
            self._executor.refuse_infinity(replica)
        models = {r: to_numpy(self._executor.model(r)) for r in hosted}
        traces = {t.name: t for o in self._observers for t in o.traces()}
        return Part(models, traces, self._pacer.lateness)

    def _ahead(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps, while the operands of later ones may land already."""
        if dist.get_backend() != "gloo":
            yield from steps
            return
        waiting: deque[Step] = deque()
        for step in steps:
            if isinstance(step, Carry):
                self._transport.expect(step)
            waiting.append(step)
            if len(waiting) > self._window:
                yield waiting.popleft()
        yield from waiting

    def _do(self, step: Any) -> None:
        progress = self._rank.progress
        if isinstance(step, Run):
            for piece in _pieces(step.rows, 1 if self._order.pace else _PIECE):
                progress.row = int(piece[0])
                self._pacer.await_row(progress.row, due=True)
                self._executor.follow(self._streams.joined(islice(self._records, len(piece))))
            return
        row = _row_of(step)
        progress.row = max(progress.row, row)
        self._pacer.await_row(row)
        if isinstance(step, Carry):
            self._transport.carry(step)
        elif isinstance(step, Launch):
            self._transport.launch(step)
        else:
            self._transport.collect(step)

    def _watch(self) -> tuple[Any, ...]:
        order, loss = self._order, self._order.loss
        if loss is None or loss.replica not in self._lowering.hosted(self._rank.number):
            return ()
        context = Context(order.schedule, LossOnHost(order.oracle), order.rule)  # type: ignore[arg-type]
        return (loss.start(context),)


@final
class LossOnHost:
    """The loss of an oracle as a NumPy array, wherever the oracle computes it.

    Args:
        oracle: The oracle.
    """

    def __init__(self, oracle: AbstractOracle) -> None:
        self._oracle = oracle

    def loss(self, x: torch.Tensor) -> np.ndarray:
        """(R,) float64 losses."""
        return to_numpy(self._oracle.loss(x))


def to_numpy(values: torch.Tensor) -> np.ndarray:
    """float64 copy of a tensor of any precision on any device."""
    return values.detach().to("cpu", torch.float64).numpy().copy()


def place_of(kind: str, rank: int) -> torch.device:
    """The device of a rank; ranks share devices in turn when there are too few of them."""
    if kind == "cpu":
        return torch.device("cpu")
    module = torch.get_device_module(kind)
    device = torch.device(kind, rank % module.device_count())
    module.set_device(device)
    return device


def _start(order: Order, device: torch.device) -> torch.Tensor:
    point = torch.tensor(np.asarray(order.oracle.start()), dtype=getattr(torch, order.dtype))
    return point.to(device).repeat(len(order.seeds), 1)


def _records(schedule: Schedule, own: np.ndarray) -> Iterator[Record]:
    """The rows that this rank runs, taken out of their columns some thousands at a time."""
    rows, measured = schedule.rows, schedule.staleness()
    stale = np.zeros(len(rows), np.int64)
    stale[measured.row] = measured.steps
    chunks = (
        records_of(
            Rows(*(getattr(rows, column.name)[numbers] for column in fields(rows))),
            stale[numbers].tolist(),
        )
        for numbers in _pieces(own, _CHUNK)
    )
    return chain.from_iterable(chunks)


def _pieces(rows: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Rows a few at a time, so that the rank shows progress."""
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def _row_of(step: Any) -> int:
    return step.crossing.launch if isinstance(step, Launch) else step.row
