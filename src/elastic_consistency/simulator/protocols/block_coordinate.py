"""Asynchronous block-coordinate descent: each job updates one random block."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import SERVER, Op, Schedule
from elastic_consistency.simulator.protocols.base import (
    AbstractBlockProtocol,
    AbstractUnreliableProtocol,
)
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.fault_restatement import (
    has_faults,
    require_whole_or_lost,
)
from elastic_consistency.simulator.protocols.restatement import (
    previous_of_worker,
    refuse_unless,
    require_everywhere,
    require_server_exchanges,
)


@final
@dataclass(frozen=True, slots=True)
class BlockCoordinate(AbstractBlockProtocol, AbstractUnreliableProtocol):
    """The asynchronous server, where each job reads all and updates one block, drawn uniformly.

    With a bound on the delays this is a partially asynchronous iteration, without one a totally
    asynchronous one, as long as every worker goes on for ever.

    Attributes:
        sizes: Parameters in each block, at least two blocks.

    Source: Liu, Wright (2015), arXiv:1403.3862 (inconsistent reads are in SharedMemory).
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        sound = len(self.sizes) > 1 and all(size > 0 for size in self.sizes)
        check(sound, self, "sizes", "at least two numbers of parameters > 0")

    def block_sizes(self):
        return self.sizes

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        seed, blocks = simulation.metadata.seed, len(self.sizes)
        choices = [Stream(seed, Cause.TOPOLOGY, w) for w in range(simulation.cluster.n_workers)]

        def read(client: AnyClient) -> None:
            if not simulation.refused:
                place = int(choices[client.worker].draw() * blocks)
                client.read(block=min(place, blocks - 1))

        def arrived(client: AnyClient) -> None:
            apply_alone(simulation, client.job, block=client.block)
            read(client)

        Crew(simulation, arrived, read).begin()

    def restate(self, schedule):
        if has_faults(schedule):
            self.restate_with_faults(schedule)
            return
        rule = "block coordinate"
        found = require_server_exchanges(schedule, rule)
        _require_own_blocks(schedule, rule)
        previous = previous_of_worker(schedule)
        later = np.flatnonzero(previous >= 0)
        at_once = found[later, 0] == found[previous[later], 4] + 1
        require_everywhere(at_once, found[later, 0], rule, "a worker reads in the same exchange")

    def restate_with_faults(self, schedule):
        rule = "block coordinate"
        require_whole_or_lost(schedule, rule)
        _require_own_blocks(schedule, rule)


def _require_own_blocks(schedule: Schedule, rule: str) -> None:
    """A job reads all blocks and updates its own."""
    rows, jobs = schedule.rows, schedule.jobs
    refuse_unless(bool((jobs.block >= 0).all()), rule, "a job has one block")
    used = np.flatnonzero(np.isin(rows.op, (Op.ENCODE, Op.ADD)))
    own = rows.block[used] == jobs.block[rows.job[used]]
    require_everywhere(own, used, rule, "a job updates its own block")
    steps = np.flatnonzero(rows.op == Op.STEP)
    same = rows.block[steps] == rows.block[steps - 1]
    require_everywhere(same, steps, rule, "the block that was added to is stepped")
