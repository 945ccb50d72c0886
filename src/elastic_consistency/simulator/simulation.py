"""The state of one simulation: the clock, the limit, the random draws and the record."""

from collections.abc import Callable
from math import inf
from typing import final

import simpy

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import SERVER, Metadata, Recorder, Schedule
from elastic_consistency.simulator.answers import AbstractAnswers
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.delay_table import DelayTable, draws_ahead
from elastic_consistency.simulator.delays.draws import LINK_LANES, Draw, independent_draws
from elastic_consistency.simulator.delays.phases import phased_draws, suspended_draws, suspensions
from elastic_consistency.simulator.delays.preemption import Preemption
from elastic_consistency.simulator.delays.transient_straggler import TransientStraggler
from elastic_consistency.simulator.network.channel import Channel
from elastic_consistency.simulator.network.link_troubles import LinkTroubles
from elastic_consistency.simulator.network.transfers import PeerNetwork
from elastic_consistency.simulator.payload import Payload
from elastic_consistency.simulator.phase_log import PhaseLog
from elastic_consistency.simulator.processors.processor import Processor
from elastic_consistency.simulator.processors.processor_sharing import ProcessorSharing
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
        used: Names of what the protocol has made use of, among those in `inert.PARTS`.
        suspensions: Phases of the workers that are suspended now and then.
        settle: Called when a run has been drained: the protocol drops what can no longer be
            completed, such as half a batch.
    """

    __slots__ = ("_followed", "_hosts", "_last_time", "_log", "_most_jobs", "_ports", "answers",
                 "cluster", "env", "metadata", "n_jobs", "network", "payload", "record",
                 "refused", "settle", "suspensions", "until", "used", "waits")  # fmt: skip

    def __init__(
        self, cluster: Cluster, until: Until, payload: Payload, metadata: Metadata
    ) -> None:
        self.cluster, self.payload, self.metadata = cluster, payload, metadata
        self.until = until
        self._most_jobs = inf if until.jobs is None else until.jobs
        self._last_time = until.time_s
        self.env = simpy.Environment()
        self.used: set[str] = set()
        self.suspensions: dict[int, PhaseLog] = {}
        self.network = PeerNetwork(cluster, metadata.seed, env=self.env, used=self.used)
        self._hosts: dict[int, ProcessorSharing] = {}
        for host in cluster.shared_hosts:
            shared = ProcessorSharing(self.env, host.speed)
            self._hosts |= dict.fromkeys(host.workers, shared)
        rate = cluster.server_bandwidth_bytes_per_s
        out_and_in = [ProcessorSharing(self.env, lambda n: rate / n) for _ in range(2)]
        self._ports = out_and_in if rate < inf else [None, None]
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
        self.refused = False
        self.settle: Callable[[], None] = lambda: None

    @property
    def model_bytes(self) -> float:
        """Size of a copy of the model, bytes; who asks makes use of it."""
        self.used.add("size of the model")
        return self.payload.model_bytes

    @property
    def update_bytes(self) -> float:
        """Size of one encoded update, bytes; who asks makes use of it."""
        self.used.add("size of an update")
        return self.payload.update_bytes

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

        Raises:
            TypeError: If nobody knows the values.
        """
        if self.answers is None:
            raise TypeError(
                f"The question {question!r} depends on values: run the protocol by lock_step "
                "instead of simulate."
            )
        self.answers.follow(self.record.rows_since(self._followed))
        self._followed = self.record.n_rows
        answer = self.answers.answer(question, operands)
        self.record.decide(question, operands, answer)
        return answer

    def drain(self) -> None:
        """Run until nothing can happen any more; what is then settled bears the last row's time.

        Alarms that ring for nothing, such as a crash after the limit, move the clock, and must
        not move rows.
        """
        self.env.run()
        if self.record.n_rows:
            self.env._now = float(self.record.rows_since(self.record.n_rows - 1).time[0])
        self.settle()

    def finish(self) -> Schedule:
        """The schedule recorded so far."""
        return self._log.finish()

    def processor(self, worker: int, done: Callable[[simpy.Event], None]) -> Processor:
        """What runs the computations of `worker`, one at a time; ask once for each worker."""
        if worker in self._hosts:
            self.used.add("shared hosts")
        return Processor(self.env, self._work(worker), self._hosts.get(worker), done)

    def computation(self, worker: int) -> Draw:
        """A function of the time at which a computation begins, s; returns its seconds.

        Raises:
            ValueError: If the worker shares its host, so that the seconds are not yet known.
        """
        if worker in self._hosts:
            raise ValueError(
                "This protocol must know how long a computation takes as it begins: give it a "
                "cluster without Cluster.shared_hosts."
            )
        return self._work(worker)

    def computations(self) -> Callable[[int, float], float]:
        """`computation` of all workers in one function of the worker and the time, s."""
        machines, n_workers = self.cluster.workers, self.cluster.n_workers
        laws = [machine.compute for machine in machines]
        independent = [law for law in laws if isinstance(law, AbstractDelayLaw)]
        if self._hosts or len(independent) < n_workers:
            draws = [self.computation(worker) for worker in range(n_workers)]
            return lambda worker, now: draws[worker](now)
        table = DelayTable(
            independent,
            [machine.slowdown for machine in machines],
            self.metadata.seed,
            Cause.COMPUTE,
            encode_s=self.payload.encode_s,
            ahead=draws_ahead(n_workers, self.until.jobs),
        )
        return table.draw

    def _work(self, worker: int) -> Draw:
        machine, seed = self.cluster.workers[worker], self.metadata.seed
        scale = machine.slowdown
        offset = scale * self.payload.encode_s
        if isinstance(machine.compute, TransientStraggler):
            return phased_draws(machine.compute, seed, worker, scale=scale, offset=offset)
        if isinstance(machine.compute, Preemption):
            phases = self.suspensions[worker] = suspensions(machine.compute, seed, worker)
            return suspended_draws(
                machine.compute, phases, seed, worker, scale=scale, offset=offset
            )
        return independent_draws(
            machine.compute, seed, Cause.COMPUTE, worker, scale=scale, offset=offset
        )

    def channel(self, sender: int, receiver: int, n_bytes: float) -> Channel:
        """Transfers from or to the server, -1, which may share its port; ask once for each."""
        self.used.add("shared port of the server")
        port = self._ports[receiver == SERVER]
        return Channel(self.env, self._travel(sender, receiver, n_bytes), n_bytes, port)

    def transfer(self, sender: int, receiver: int, n_bytes: float) -> Draw:
        """A function of the present time, s, that returns the seconds of the next transfer.

        One of the two must be the server, -1.

        Raises:
            ValueError: If the server's port is shared, so that the seconds are not yet known.
        """
        if self._ports[0] is not None:
            raise ValueError(
                "This protocol must know how long a transfer takes as it begins: give it a "
                "cluster without Cluster.server_bandwidth_bytes_per_s."
            )
        return self._travel(sender, receiver, n_bytes)

    def _travel(self, sender: int, receiver: int, n_bytes: float) -> Draw:
        self.used.add("links to the server")
        link = self.cluster.link(sender, receiver)
        worker, lane = (sender, 0) if receiver == SERVER else (receiver, 1)
        seed, script = self.metadata.seed, self.cluster.faults
        calm = independent_draws(
            link.jitter,
            seed,
            Cause.LINK,
            worker,
            lane=lane,
            lanes=LINK_LANES,
            offset=link.fixed_seconds(n_bytes),
        )
        if script.separates(sender, receiver):
            self.used.add("partitions")
        elif link.is_calm:
            return calm
        troubles = LinkTroubles(link, script, seed, sender, receiver)
        return lambda now: troubles.seconds(now, calm(now), n_bytes)
