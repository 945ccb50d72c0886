"""The state of one simulation: the clock, the limit, the random draws and the record."""

from collections.abc import Callable
from math import inf
from typing import final

import simpy

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import SERVER, Metadata, Recorder, Schedule
from elastic_consistency.simulator.answers import AbstractAnswers
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.delays.draws import LINK_LANES, Draw, independent_draws
from elastic_consistency.simulator.delays.phases import phased_draws
from elastic_consistency.simulator.delays.transient_straggler import TransientStraggler
from elastic_consistency.simulator.network import PeerNetwork
from elastic_consistency.simulator.payload import Payload
from elastic_consistency.simulator.row_patterns import PatternLog, RowPattern
from elastic_consistency.simulator.stall import Wait
from elastic_consistency.simulator.until import Until


@final
class Simulation:
    """What a protocol sees of a run.

    Args:
        cluster: The machines.
        until: The limit.
        payload: Bytes that travel.
        metadata: Metadata of the schedule, with hosts and seed.

    Attributes:
        env: SimPy's environment; `env.now` is the time, s.
        network: Transfer times between workers.
        record: Writes the schedule row by row.
        waits: Who waits for whom at present, by worker; a stall is reported from it.
        answers: Who knows the values, in lock-step; None when nobody does.
        refused: Whether the limit has kept a job from beginning.
        uses_server_links: Whether the protocol has asked for a transfer from or to the server.
        settle: Called when a run has been drained: the protocol drops what can no longer be
            completed, such as half a batch.
    """

    __slots__ = ("_followed", "_last_time", "_log", "_most_jobs", "answers", "cluster", "env",
                 "metadata", "n_jobs", "network", "payload", "record", "refused", "settle",
                 "uses_server_links", "waits")  # fmt: skip

    def __init__(
        self, cluster: Cluster, until: Until, payload: Payload, metadata: Metadata
    ) -> None:
        self.cluster, self.payload, self.metadata = cluster, payload, metadata
        self._most_jobs = inf if until.jobs is None else until.jobs
        self._last_time = until.time_s
        self.env = simpy.Environment()
        self.network = PeerNetwork(cluster, metadata.seed)
        self.record = Recorder(
            lambda: self.env.now,
            n_workers=metadata.n_workers,
            hosts=metadata.hosts,
            block_sizes=metadata.block_sizes,
            seed=metadata.seed,
            provenance=metadata.provenance,
        )
        self._log: Recorder | PatternLog = self.record
        self.waits: dict[int, Wait] = {}
        self.n_jobs = 0
        self.answers: AbstractAnswers | None = None
        self._followed = 0
        self.refused = self.uses_server_links = False
        self.settle: Callable[[], None] = lambda: None

    def admit(self, now: float, n_jobs: int = 1) -> bool:
        """Whether `n_jobs` more jobs may begin `now`, s; if so they count as begun."""
        total = self.n_jobs + n_jobs
        if total <= self._most_jobs and now < self._last_time:
            self.n_jobs = total
            return True
        self.refused = True
        return False

    def log(self, patterns: tuple[tuple[RowPattern, ...], ...], *, n_operands: int) -> PatternLog:
        """Write the schedule by patterns instead of by `record`."""
        self._log = PatternLog(patterns, n_operands=n_operands, metadata=self.metadata)
        return self._log

    def ask(self, question: str, operands: tuple[int, ...]) -> float:
        """An answer that depends on values; it is kept in the schedule, for replay.

        Every question looks at all rows so far, so a run costs more than linear time.

        Raises:
            TypeError: If nobody knows the values.
        """
        if self.answers is None:
            raise TypeError(
                f"The question {question!r} depends on values: run the protocol by lock_step "
                "instead of simulate."
            )
        rows = self.record.finish().rows
        self.answers.follow(rows.slice(self._followed, len(rows)))
        self._followed = len(rows)
        answer = self.answers.answer(question, operands)
        self.record.decide(question, operands, answer)
        return answer

    def finish(self) -> Schedule:
        """The schedule recorded so far."""
        return self._log.finish()

    def computation(self, worker: int) -> Draw:
        """A function of the time at which a computation begins, s; returns its seconds."""
        machine, seed = self.cluster.workers[worker], self.metadata.seed
        if isinstance(machine.compute, TransientStraggler):
            return phased_draws(machine.compute, seed, worker, scale=machine.slowdown)
        return independent_draws(
            machine.compute, seed, Cause.COMPUTE, worker, scale=machine.slowdown
        )

    def transfer(self, sender: int, receiver: int, n_bytes: float) -> Draw:
        """A function that returns the seconds of the next transfer, whatever its argument.

        One of the two must be the server, -1.
        """
        self.uses_server_links = True
        link = self.cluster.link(sender, receiver)
        worker, lane = (sender, 0) if receiver == SERVER else (receiver, 1)
        return independent_draws(
            link.jitter,
            self.metadata.seed,
            Cause.LINK,
            worker,
            lane=lane,
            lanes=LINK_LANES,
            offset=link.fixed_seconds(n_bytes),
        )
