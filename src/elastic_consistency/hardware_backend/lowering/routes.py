"""How each message crosses ranks: which collective, between whom, launched when."""

from collections import Counter
from dataclasses import dataclass, replace
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


COLLECTIVE = (Route.BROADCAST, Route.REDUCE, Route.ALL_REDUCE)


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

    def told(self) -> str:
        """What goes on, for messages."""
        return f"{self.route.value} of message {self.message} among {self.members}"


def find_crossings(
    schedule: Schedule,
    worker_ranks: np.ndarray,
    *,
    n_ranks: int,
    ordered: bool,
    most_groups: int = 64,
) -> list[Crossing]:
    """The crossing of each message, by number.

    Args:
        schedule: The schedule.
        worker_ranks: (E,) rank of each row's worker.
        n_ranks: Number of ranks.
        ordered: Sum contributions in the order of the PUTs, as the executor does, instead of
            with a reduction whose order is the transport's.
        most_groups: Process groups that may be made; messages among rarer sets of ranks are
            gathered, since every group costs connections and memory.
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
    crossings = [
        _cross(m, writes[m], reads[m], _carried(blocks[m]), int(launch[m]), ordered=ordered)
        for m in range(count)
    ]
    return _limit_groups(crossings, most_groups)


def _limit_groups(crossings: list[Crossing], most_groups: int) -> list[Crossing]:
    sizes = Counter(c.members for c in crossings if c.route in COLLECTIVE)
    frequent = {members for members, _ in sizes.most_common(most_groups)}
    return [
        replace(c, route=Route.GATHER) if c.route in COLLECTIVE and c.members not in frequent else c
        for c in crossings
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
