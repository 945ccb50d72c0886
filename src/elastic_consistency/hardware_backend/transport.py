"""Carrying operands and messages between ranks with torch.distributed."""

from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any, final

import torch
import torch.distributed as dist

from elastic_consistency.execution import Executor
from elastic_consistency.hardware_backend.lowering.lower import Carry, Collect, Launch, Operand
from elastic_consistency.hardware_backend.lowering.routes import Crossing, Route
from elastic_consistency.hardware_backend.processes.failures import ContactLostError
from elastic_consistency.hardware_backend.processes.rank_process import Progress

_MOST_SENDS = 64  # sends not yet known to be complete, before the oldest is waited for
_OPERAND = 1  # tag of operands, which may be received ahead of messages


@final
class Transport:
    """One rank's end of all transfers of one replay.

    Args:
        executor: Holds the operands that live on this rank.
        rank: Number of this rank.
        blank: (R, d) array whose dtype, device and number of replicates all transfers share.
        wire: Where vectors must be to be sent: on the CPU for gloo, on the device for NCCL.
        groups: Members of every subgroup, in the same order on all ranks.
        progress: Where this rank stands.
        timeout: Of one wait, or None to leave time to whoever watches the ranks.
    """

    def __init__(
        self,
        executor: Executor,
        rank: int,
        blank: torch.Tensor,
        *,
        wire: torch.device,
        groups: list[tuple[int, ...]],
        progress: Progress,
        timeout: timedelta | None = None,
    ) -> None:
        self._executor, self._rank, self._blank, self._wire = executor, rank, blank, wire
        self._groups: dict[tuple[int, ...], Any] = {
            members: dist.new_group(list(members)) for members in groups
        }
        self._progress, self._timeout = progress, timeout
        self._sends: deque[tuple[Any, torch.Tensor, Carry]] = deque()
        self._expected: deque[tuple[Any, torch.Tensor]] = deque()
        self._flying: dict[int, tuple[Any, torch.Tensor]] = {}

    def expect(self, step: Carry) -> None:
        """Make room for an operand before its turn, so that it lands while others are at work.

        Calls come in the order of the steps. Only gloo can receive out of turn: NCCL would hold
        back whatever is sent after it.
        """
        if step.target == self._rank:
            vector = self._empty(step.blocks)
            with _Contact(step.told, step.row):
                self._expected.append((dist.irecv(vector, step.source, tag=_OPERAND), vector))

    def carry(self, step: Carry) -> None:
        """Send an operand, or receive it and place it."""
        of_model = step.operand is Operand.MODEL
        if step.source == self._rank:
            get = self._executor.model_part if of_model else self._executor.update_part
            self._send(get(step.number, step.blocks), step)
            return
        if not self._expected:
            self.expect(step)
        work, vector = self._expected.popleft()
        self._wait(work, step.told, step.row)
        vector = self._landed(vector)
        if of_model:
            self._executor.place_model(step.number, step.blocks, vector, step.mass)
        else:
            self._executor.place_update(step.number, step.blocks, vector)

    def launch(self, step: Launch) -> None:
        """Begin the crossing of a message."""
        crossing = step.crossing
        begin = self._begin_pair if crossing.route is Route.SEND else self._begin_collective
        with _Contact(crossing.told, crossing.launch):
            self._flying[crossing.message] = begin(crossing)

    def collect(self, step: Collect) -> None:
        """Wait for a message and place it where it is read."""
        crossing = step.crossing
        work, vector = self._flying.pop(crossing.message)
        self._wait(work, crossing.told, step.row)
        if self._rank in crossing.readers:
            place = self._executor.place_message
            place(crossing.message, crossing.blocks, self._landed(vector), step.mass)

    def finish(self) -> None:
        """Wait until everything sent has left."""
        while self._sends:
            self._forget_oldest_send()

    def _begin_pair(self, crossing: Crossing) -> tuple[Any, torch.Tensor]:
        (other,) = (rank for rank in crossing.members if rank != self._rank)
        if self._rank == crossing.root:
            part = self._executor.message_part(crossing.message, crossing.blocks)
            vector = part.to(self._wire).contiguous()
            return dist.isend(vector, other), vector
        vector = self._empty(crossing.blocks)
        return dist.irecv(vector, other), vector

    def _begin_collective(self, crossing: Crossing) -> tuple[Any, torch.Tensor]:
        group, root = self._groups.get(crossing.members), crossing.root
        part = self._executor.message_part(crossing.message, crossing.blocks)
        # A copy: the part may be the very array of a job's update.
        vector = part.to(self._wire, copy=True, memory_format=torch.contiguous_format)
        if crossing.route is Route.BROADCAST:
            return dist.broadcast(vector, root, group=group, async_op=True), vector
        if crossing.route is Route.REDUCE:
            return dist.reduce(vector, root, group=group, async_op=True), vector
        return dist.all_reduce(vector, group=group, async_op=True), vector

    def _send(self, values: torch.Tensor, step: Carry) -> None:
        values = values.to(self._wire).contiguous()
        with _Contact(step.told, step.row):
            self._sends.append((dist.isend(values, step.target, tag=_OPERAND), values, step))
        if len(self._sends) > _MOST_SENDS:
            self._forget_oldest_send()

    def _forget_oldest_send(self) -> None:
        work, _, step = self._sends.popleft()
        self._wait(work, step.told, step.row)

    def _wait(self, work: Any, told: Callable[[], str], row: int) -> None:
        self._progress.waiting = True
        with _Contact(told, row):
            work.wait() if self._timeout is None else work.wait(self._timeout)
        self._progress.waiting = False

    def _empty(self, blocks: tuple[int, ...]) -> torch.Tensor:
        shape = (self._blank.shape[0], self._executor.width(blocks))
        return self._blank.new_empty(shape, device=self._wire)

    def _landed(self, vector: torch.Tensor) -> torch.Tensor:
        return vector.to(self._blank.device)


@final
class _Contact:
    """Says what was going on when the transport reports a broken connection."""

    __slots__ = ("_row", "_told")

    def __init__(self, told: Callable[[], str], row: int) -> None:
        self._told, self._row = told, row

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, RuntimeError):
            raise ContactLostError(self._told(), self._row, error) from error
