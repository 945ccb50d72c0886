"""Synchronous rounds in which workers crash in the middle of their broadcast."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import ABSENT, Op, Schedule
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.network.collectives import (
    AbstractCollective,
    Ring,
    collective_seconds,
)
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class BroadcastCrash:
    """A worker dies in the middle of sending its update.

    Attributes:
        worker: Who dies.
        round: In which round, >= 0.
        receivers: Who still gets the update.
    """

    worker: int
    round: int
    receivers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check(self.round >= 0, self, "round", "a number of a round >= 0")
        alone = self.worker not in self.receivers
        check(alone, self, "receivers", "workers other than the one that dies")


@final
@dataclass(frozen=True, slots=True)
class CrashFaults(AbstractProtocol):
    """All-reduce rounds; the updates of dying workers reach some replicas and miss others.

    Everybody weighs 1/p for ever, so that the survivors take smaller steps. A receiver that
    misses an update applies nothing in its place or, with `substitute`, its own a second time.

    Attributes:
        crashes: Who dies when, at most once each.
        substitute: Whether a worker's own update stands in for one that it misses.
        timeout_s: By how much a round with a crash lasts longer, s, >= 0.
        collective: Algorithm of the all-reduce, which sets its time.

    Source: Nadiradze et al. (2021), AAAI 35(10):9037-9045, crash faults.
    """

    crashes: tuple[BroadcastCrash, ...]
    substitute: bool = False
    timeout_s: float = 0.0
    collective: AbstractCollective = field(default_factory=Ring)

    def __post_init__(self) -> None:
        dying = [crash.worker for crash in self.crashes]
        check(len(set(dying)) == len(dying), self, "crashes", "at most one crash a worker")
        check(self.timeout_s >= 0, self, "timeout_s", "a number of seconds >= 0")

    def hosts(self, cluster):
        named = {w for crash in self.crashes for w in (crash.worker, *crash.receivers)}
        known = named <= set(range(cluster.n_workers))
        check(known, self, "crashes", f"about workers 0..{cluster.n_workers - 1}")
        survives = len(self.crashes) < cluster.n_workers
        check(survives, self, "crashes", "fewer than the workers of the cluster")
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        _MortalRounds(simulation, self).begin()

    def restate(self, schedule):
        rule, rows, jobs = "crash faults", schedule.rows, schedule.jobs
        p, crash_of = schedule.metadata.n_workers, {c.worker: c for c in self.crashes}
        ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.PUT, Op.ADD, Op.STEP, Op.DROP, Op.CRASH)
        require_only(schedule, ops, rule)
        weigh = np.flatnonzero(((rows.op == Op.ADD) & (rows.job >= 0)) | (rows.op == Op.PUT))
        require_everywhere(rows.weight[weigh] == 1 / p, weigh, rule, "an update weighs 1/p")
        steps = np.flatnonzero(rows.op == Op.STEP)
        before = (rows.op[steps - 1] == Op.ADD) & (rows.replica[steps - 1] == rows.replica[steps])
        require_everywhere(before, steps, rule, "a replica steps when it has added everything")
        crashed = rows.worker[rows.op == Op.CRASH].tolist()
        refuse_unless(len(set(crashed)) == len(crashed), rule, "nobody dies twice")
        n_rounds = int(jobs.round[~np.isnan(jobs.share)].max(initial=-1)) + 1
        taken = _contributions(schedule)
        for round in range(n_rounds):
            at = f"in round {round}"
            alive = [w for w in range(p) if w not in crash_of or crash_of[w].round > round]
            dying = [w for w, crash in crash_of.items() if crash.round == round]
            for replica in alive:
                wanted = dict.fromkeys(alive, 1)
                for worker in dying:
                    if replica in crash_of[worker].receivers:
                        wanted[worker] = 1
                    elif self.substitute:
                        wanted[replica] += 1
                given = taken.pop((round, replica), {})
                refuse_unless(given == wanted, rule, f"replica {replica} gets its due {at}")
        refuse_unless(not taken, rule, "the dead step no more")


def _contributions(schedule: Schedule) -> dict[tuple[int, int], dict[int, int]]:
    """How often each STEP takes each worker's update, by (round, replica)."""
    rows, jobs = schedule.rows, schedule.jobs
    carried, pending, taken = defaultdict(list), defaultdict(list), {}
    for row in range(len(rows)):
        op, job, replica = rows.op[row], int(rows.job[row]), int(rows.replica[row])
        if op == Op.PUT:
            carried[int(rows.message[row])].append(job)
        elif op == Op.ADD:
            pending[replica] += [job] if job >= 0 else carried[int(rows.message[row])]
        elif op == Op.STEP:
            used = pending.pop(replica, [])
            rounds = {int(jobs.round[job]) for job in used}
            refuse_unless(len(rounds) == 1, "crash faults", "a step takes one round", row=row)
            key = (rounds.pop(), replica)
            refuse_unless(key not in taken, "crash faults", "one step a round", row=row)
            taken[key] = dict(Counter(int(jobs.worker[job]) for job in used))
    refuse_unless(not pending, "crash faults", "nothing is added without a step")
    return taken


@final
class _MortalRounds:
    """The rounds of one run."""

    __slots__ = ("_crash_of", "_done", "_dying", "_jobs", "_message", "_missing", "_processors",
                 "_protocol", "_round", "_simulation")  # fmt: skip

    def __init__(self, simulation: Simulation, protocol: CrashFaults) -> None:
        self._simulation, self._protocol = simulation, protocol
        workers = range(simulation.cluster.n_workers)
        self._processors = {w: simulation.processor(w, self._finished_by(w)) for w in workers}
        self._done = Alarm(simulation.env, self._reduced)
        self._crash_of = {crash.worker: crash for crash in protocol.crashes}
        self._jobs = dict.fromkeys(workers, ABSENT)  # of the living
        self._dying: list[int] = []
        self._message, self._missing, self._round = ABSENT, 0, -1

    def begin(self) -> None:
        simulation, record = self._simulation, self._simulation.record
        now = simulation.env.now
        if not simulation.admit(now, len(self._jobs)):
            return
        self._round += 1
        self._message, self._missing, self._dying = ABSENT, len(self._jobs), []
        for worker in self._jobs:
            job = self._jobs[worker] = record.job(worker, round=self._round)
            record.read(job, worker)
            record.gradient(job)
            record.begin(job, now)
            self._processors[worker].start()

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            simulation, job = self._simulation, self._jobs[worker]
            record, p = simulation.record, simulation.cluster.n_workers
            record.encode(job)
            crash = self._crash_of.get(worker)
            if crash is not None and crash.round == self._round:
                record.crash(worker)
                self._dying.append(worker)
            else:
                if self._message == ABSENT:
                    self._message = record.message()
                record.put(self._message, job=job, weight=1 / p)
            self._missing -= 1
            if self._missing == 0:
                self._reduce()

        return finished

    def _reduce(self) -> None:
        simulation, protocol = self._simulation, self._protocol
        n_bytes = simulation.update_bytes
        seconds = collective_seconds(protocol.collective, simulation.network, n_bytes)
        self._done.set(seconds + (protocol.timeout_s if self._dying else 0.0))

    def _reduced(self, event: simpy.Event) -> None:
        record, p = self._simulation.record, self._simulation.cluster.n_workers
        lost = {worker: self._jobs.pop(worker) for worker in sorted(self._dying)}
        for replica, own in self._jobs.items():
            record.add(replica, message=self._message)
            for worker, job in lost.items():
                if replica in self._crash_of[worker].receivers:
                    record.add(replica, job=job, weight=1 / p)
                elif self._protocol.substitute:
                    record.add(replica, job=own, weight=1 / p)
            record.step(replica)
        record.drop(message=self._message)
        for job in self._jobs.values():
            record.drop(job=job, share=1 / p)
        for worker, job in lost.items():
            known = bool(set(self._crash_of[worker].receivers) & self._jobs.keys())
            record.drop(job=job, share=1 / p if known else 0.0)
        self.begin()
