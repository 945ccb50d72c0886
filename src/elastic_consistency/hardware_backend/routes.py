"""How each message crosses ranks: which collective, between whom, launched when."""

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from elastic_consistency.schedule import ABSENT, Op, Schedule


class Route(Enum):
    """The operation that carries a message from the ranks that write to those that read."""

    LOCAL = "local"  # nobody else reads it
    SEND = "send"  # one writes, one other reads
    BROADCAST = "broadcast"  # one writes, several read
    REDUCE = "reduce"  # several write, one reads
    ALL_REDUCE = "all_reduce"  # several write and several read
    GATHER = "gather"  # every reader gets every contribution and sums in the order of the PUTs


@final
@dataclass(frozen=True, slots=True)
class Crossing:
    """The crossing of one message.

    Attributes:
        message: Number of the message.
        route: Its operation.
        members: Ranks that take part, ascending.
        readers: Ranks that read it, ascending.
        root: Rank that the broadcast comes from or the reduction goes to, -1 for none.
        blocks: Blocks that it carries; () is the whole model.
        launch: Number of its last PUT row.
    """

    message: int
    route: Route
    members: tuple[int, ...]
    readers: tuple[int, ...]
    root: int
    blocks: tuple[int, ...]
    launch: int


def find_crossings(
    schedule: Schedule, worker_ranks: np.ndarray, *, n_ranks: int, ordered: bool
) -> list[Crossing]:
    """The crossing of each message, by number.

    Args:
        schedule: The schedule.
        worker_ranks: (E,) rank of each row's worker.
        n_ranks: Number of ranks.
        ordered: Sum contributions in the order of the PUTs, as the executor does, instead of
            with a reduction whose order is the transport's.
    """
    table, count = schedule.rows, len(schedule.messages)
    puts = np.flatnonzero(table.op == Op.PUT)
    uses = np.flatnonzero(np.isin(table.op, (Op.ADD, Op.MIX)) & (table.message != ABSENT))
    writes, reads = (np.zeros((count, n_ranks), bool) for _ in range(2))
    writes[table.message[puts], worker_ranks[puts]] = True
    reads[table.message[uses], worker_ranks[uses]] = True
    launch = np.full(count, -1)
    launch[table.message[puts]] = puts
    blocks: list[set[int]] = [set() for _ in range(count)]
    for message, block in zip(
        table.message[puts].tolist(), table.block[puts].tolist(), strict=True
    ):
        blocks[message].add(block)
    return [
        _cross(m, writes[m], reads[m], _carried(blocks[m]), int(launch[m]), ordered=ordered)
        for m in range(count)
    ]


def _carried(blocks: set[int]) -> tuple[int, ...]:
    return () if ABSENT in blocks else tuple(sorted(blocks))


def _cross(
    message: int,
    writes: np.ndarray,
    reads: np.ndarray,
    blocks: tuple[int, ...],
    launch: int,
    *,
    ordered: bool,
) -> Crossing:
    writers, readers = _numbers(writes), _numbers(reads)
    members = _numbers(writes | reads)
    root = writers[0] if len(writers) == 1 else readers[0] if len(readers) == 1 else -1
    route = _route(writers, readers, members, ordered=ordered)
    return Crossing(message, route, members, readers, root, blocks, launch)


def _route(
    writers: tuple[int, ...], readers: tuple[int, ...], members: tuple[int, ...], *, ordered: bool
) -> Route:
    if not readers or len(members) == 1:
        return Route.LOCAL
    if len(writers) == 1:
        return Route.SEND if len(members) == 2 else Route.BROADCAST
    if ordered:
        return Route.GATHER
    return Route.REDUCE if len(readers) == 1 else Route.ALL_REDUCE


def _numbers(chosen: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())
