"""Synchronous broadcast over links that lose messages for good."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import Op
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.network.collectives import (
    AbstractCollective,
    Ring,
    collective_seconds,
)
from elastic_consistency.simulator.network.losses import Attempts, Loss, is_loss
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class LossyBroadcast(AbstractProtocol):
    """In every round everybody sends to everybody; what is lost `1 + retries` times is gone.

    Replicas then drift apart, for ever unless they are averaged every `resync` rounds: without
    either there is no constant B, `has_finite_gap` is false and the schedule says so in a
    remark. The auxiliary sequence is the mean of the replicas, so the share of an update is the
    part of the replicas that got it, over p.

    Attributes:
        loss: Probability that one transmission is lost, in [0, 1), or a bursty channel.
        retries: Repetitions of a lost transmission, >= 0, or None for as many as it takes.
        timeout_s: Time until a lost transmission is repeated or given up, s, >= 0.
        resync: Rounds between two averages of the replicas, >= 1, or None for never.
        collective: Algorithm of the average, which sets its time.
    """

    loss: Loss
    retries: int | None = 0
    timeout_s: float = 0.0
    resync: int | None = None
    collective: AbstractCollective = field(default_factory=Ring)

    def __post_init__(self) -> None:
        check(is_loss(self.loss), self, "loss", "a probability in [0, 1) or a GilbertElliott")
        enough = self.retries is None or self.retries >= 0
        check(enough, self, "retries", "a number of repetitions >= 0, or None")
        check(self.timeout_s >= 0, self, "timeout_s", "a number of seconds >= 0")
        sound = self.resync is None or self.resync >= 1
        check(sound, self, "resync", "a number of rounds >= 1, or None")

    @property
    def has_finite_gap(self) -> bool:
        """Whether some B bounds the gap at all times."""
        return self.loss == 0 or self.retries is None or self.resync is not None

    def hosts(self, cluster):
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        if not self.has_finite_gap:
            simulation.record.annotate("no finite B", -1, "losses without resynchronisation")
        _LossyRounds(simulation, self).begin()

    def restate(self, schedule):
        rule, rows, jobs = "lossy broadcast", schedule.rows, schedule.jobs
        p = schedule.metadata.n_workers
        ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.PUT, Op.MIX, Op.ADD, Op.STEP, Op.DROP)
        require_only(schedule, ops, rule)
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1 / p, add, rule, "an update weighs 1/p")
        pairs = rows.job[add] * p + rows.replica[add]
        refuse_unless(len(np.unique(pairs)) == len(pairs), rule, "nobody applies one twice")
        copies = np.bincount(rows.job[add], minlength=len(jobs))
        ended = ~np.isnan(jobs.share)
        exact = jobs.share[ended] == copies[ended] / p / p
        refuse_unless(bool(exact.all()), rule, "a share is the part that got the update, over p")
        own = np.isin(np.arange(len(jobs)) * p + jobs.worker, pairs)
        refuse_unless(bool(own[ended].all()), rule, "nobody loses its own update")
        steps = np.flatnonzero(rows.op == Op.STEP)
        turn = rows.replica[steps] == np.arange(len(steps)) % p
        require_everywhere(turn, steps, rule, "in a round every replica steps once, in order")
        # The ADDs of a replica lie between the last replica's STEP and its own.
        place = np.searchsorted(steps, add)
        fits = (place % p == rows.replica[add]) & (place // p == rows.job[add] // p)
        require_everywhere(fits, add, rule, "a replica steps when it has added what arrived")
        round_of = rows.job[add] // p
        refuse_unless(bool((np.diff(round_of) >= 0).all()), rule, "rounds do not overlap")
        mixes = np.flatnonzero(rows.op == Op.MIX)
        if self.resync is None:
            refuse_unless(not len(mixes), rule, "nothing is averaged")
            return
        steps = np.cumsum(rows.op == Op.STEP)[mixes]
        due = steps == p * self.resync * (1 + np.arange(len(mixes)) // p)
        require_everywhere(due, mixes, rule, f"an average every {self.resync} rounds")
        turn = (rows.replica[mixes] == np.arange(len(mixes)) % p) & (rows.keep[mixes] == 0)
        require_everywhere(turn, mixes, rule, "an average replaces every replica")


@final
class _LossyRounds:
    """The rounds of one run."""

    __slots__ = ("_attempts", "_averaged", "_done", "_jobs", "_lost", "_missing", "_p",
                 "_processors", "_protocol", "_round", "_simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, protocol: LossyBroadcast) -> None:
        self._simulation, self._protocol = simulation, protocol
        self._p = simulation.cluster.n_workers
        workers, seed = range(self._p), simulation.metadata.seed
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        self._done = Alarm(simulation.env, self._delivered)
        self._averaged = Alarm(simulation.env, self._on_averaged)
        self._attempts = [Attempts(protocol.loss, seed, worker) for worker in workers]
        self._jobs: list[int] = []
        self._lost: set[tuple[int, int]] = set()
        self._missing, self._round = 0, -1

    def begin(self) -> None:
        simulation, record, now = (
            self._simulation,
            self._simulation.record,
            self._simulation.env.now,
        )
        if not simulation.admit(now, self._p):
            return
        self._round += 1
        self._missing = self._p
        self._jobs = [record.job(worker, round=self._round) for worker in range(self._p)]
        for worker, job in enumerate(self._jobs):
            record.read(job, worker)
            record.gradient(job)
            record.begin(job, now)
            self._processors[worker].start()

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            self._simulation.record.encode(self._jobs[worker])
            self._missing -= 1
            if self._missing == 0:
                self._done.set(self._broadcast())

        return finished

    def _broadcast(self) -> float:
        """Decide what is lost; returns the seconds until all has arrived or been given up."""
        simulation, protocol, longest = self._simulation, self._protocol, 0.0
        self._lost.clear()
        n_bytes = simulation.update_bytes
        for sender in range(self._p):
            for receiver in range(self._p):
                if receiver == sender:
                    continue
                needed = self._attempts[sender].next()
                seconds = simulation.network.seconds(sender, receiver, n_bytes)
                if protocol.retries is not None and needed > 1 + protocol.retries:
                    self._lost.add((sender, receiver))
                    seconds, needed = 0.0, 2 + protocol.retries
                longest = max(longest, seconds + (needed - 1) * protocol.timeout_s)
        return longest

    def _delivered(self, event: simpy.Event) -> None:
        record, p = self._simulation.record, self._p
        for replica in range(p):
            for worker, job in enumerate(self._jobs):
                if (worker, replica) not in self._lost:
                    record.add(replica, job=job, weight=1 / p)
            record.step(replica)
        for worker, job in enumerate(self._jobs):
            copies = p - sum((worker, replica) in self._lost for replica in range(p))
            record.drop(job=job, share=copies / p / p)
        resync = self._protocol.resync
        if resync is not None and (self._round + 1) % resync == 0:
            simulation, n_bytes = self._simulation, self._simulation.model_bytes
            seconds = collective_seconds(self._protocol.collective, simulation.network, n_bytes)
            self._averaged.set(seconds)
        else:
            self.begin()

    def _on_averaged(self, event: simpy.Event) -> None:
        record = self._simulation.record
        message = record.message()
        for replica in range(self._p):
            record.put(message, replica=replica, weight=1 / self._p)
        for replica in range(self._p):
            record.mix(replica, message, keep=0.0)
        record.drop(message=message)
        self.begin()
