"""Asynchronous message passing: every worker sends each update to everybody."""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.network.losses import Attempts, Loss, is_loss
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.fault_restatement import (
    absences,
    has_faults,
    lost_in_crash,
    require_silence,
)
from elastic_consistency.simulator.protocols.open_rounds import OpenRounds
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
@dataclass(frozen=True, slots=True)
class MessagePassing(AbstractUnreliableProtocol):
    """Each worker has a replica and applies every update, its own at once, with weight 1/p.

    A worker begins round r when all updates of round r - 1 - lag and before have arrived; later
    ones may be missing. What comes from rounds that it has not yet begun is held back: else its
    view would run ahead of the aggregate, and the gap would exceed (p - 1) lag M / p. A lost
    message is sent again after a timeout, as often as it takes, so
    that loss is latency.

    When workers crash, restart or join late, the rounds are those of OpenRounds, and an update
    weighs 1/p all the same. A replica is as durable as a checkpoint: who comes back applies what
    has arrived meanwhile, and waits as anybody does for what is too late.

    Attributes:
        lag: tau, rounds by which an update may be late, >= 0; 0 is synchronous.
        loss: Probability that one transmission is lost, in [0, 1), or a bursty channel.
        timeout_s: Time until a lost transmission is repeated, s, >= 0.

    Source: Nadiradze et al. (2021), AAAI 35(10):9037-9045, message passing with delays.
    """

    lag: int
    loss: Loss = 0.0
    timeout_s: float = 0.0

    def __post_init__(self) -> None:
        check(self.lag >= 0, self, "lag", "a number of rounds >= 0")
        check(is_loss(self.loss), self, "loss", "a probability in [0, 1) or a GilbertElliott")
        check(self.timeout_s >= 0, self, "timeout_s", "a number of seconds >= 0")

    def hosts(self, cluster):
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        _Peers(simulation, self).begin()

    def restate(self, schedule):
        self.restate_with_faults(schedule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "message passing", schedule.rows, schedule.jobs
        p, lost = schedule.metadata.n_workers, lost_in_crash(schedule)
        ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.STEP, Op.DROP, Op.CRASH)
        require_only(schedule, ops, rule)
        require_silence(schedule, rule)
        share = jobs.share[~np.isnan(jobs.share)]
        fits = share == np.where(lost, 0, 1 / p)[~np.isnan(jobs.share)]
        refuse_unless(bool(fits.all()), rule, "a share is 1/p, or 0 if lost in a crash")
        read = np.flatnonzero(rows.op == Op.READ)
        own = (rows.replica[read] == rows.worker[read]) & (rows.job[read] == np.arange(len(read)))
        require_everywhere(own, read, rule, "a worker reads its own replica, one job after another")
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1 / p, add, rule, "an update weighs 1/p")
        require_steps_after_adds(schedule, rule)
        drop = np.flatnonzero(rows.op == Op.DROP)
        uses = np.bincount(rows.job[add], minlength=len(jobs))
        gone = sum(last == len(rows) for _, _, last in absences(schedule))
        complete = (uses[rows.job[drop]] >= p - gone) | lost[rows.job[drop]]
        message = "an update ends when everybody has applied it who ever can"
        require_everywhere(complete, drop, rule, message)
        at_home = rows.op == Op.ADD
        at_home[add] = rows.replica[add] == jobs.worker[rows.job[add]]
        at_once = np.append(rows.op, -1)[np.flatnonzero(at_home) - 1] == Op.ENCODE
        require_everywhere(at_once, np.flatnonzero(at_home), rule, "one's own update comes first")
        pairs = rows.job[add] * p + rows.replica[add]
        refuse_unless(len(np.unique(pairs)) == len(pairs), rule, "nobody applies one twice")
        due = jobs.round[rows.job[read]] - 1 - self.lag
        begun, complete = _progress(schedule, p)
        in_time = complete[read] >= due
        require_everywhere(in_time, read, rule, f"nothing is later than {self.lag} rounds")
        early = jobs.round[rows.job[add]] > begun[add]
        require_everywhere(~early, add, rule, "nothing is applied before its round has begun")


def _progress(schedule: Schedule, p: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row, the rounds that its worker has begun and has completely; -1 for none.

    Who comes back has begun all rounds but the one that it begins next.
    """
    rows, jobs = schedule.rows, schedule.jobs
    sent = jobs.round[jobs.share != 0]
    expected = np.append(np.bincount(sent), 0).tolist() if len(sent) else [0]
    counts = [defaultdict(int) for _ in range(p)]
    begun, complete = np.full(p, -1), np.full(p, -1)
    ahead = _begun_next(schedule) if has_faults(schedule) else np.full(len(rows), -1)
    found = np.full((2, len(rows)), -1)
    for row in range(len(rows)):
        node = rows.worker[row]
        if rows.op[row] == Op.READ:
            begun[node] = jobs.round[rows.job[row]]
        elif rows.op[row] == Op.ADD:
            counts[node][jobs.round[rows.job[row]]] += 1
        while (after := complete[node] + 1) < len(expected) - 1 and (
            counts[node][after] >= expected[after]
        ):
            complete[node] += 1
        found[:, row] = max(begun[node], ahead[row]), complete[node]
    return found[0], found[1]


def _begun_next(schedule: Schedule) -> np.ndarray:
    """(E,) the round before the one that the row's worker begins next; the last if none."""
    rows, jobs = schedule.rows, schedule.jobs
    upcoming = dict.fromkeys(range(schedule.metadata.n_workers), int(jobs.round.max(initial=0)))
    found = np.full(len(rows), -1)
    for row in range(len(rows) - 1, -1, -1):
        node = int(rows.worker[row])
        if rows.op[row] == Op.READ:
            upcoming[node] = int(jobs.round[rows.job[row]]) - 1
        found[row] = upcoming.get(node, -1)
    return found


@final
class _Peers:
    """The workers of one run."""

    __slots__ = ("_arrived", "_attempts", "_complete", "_held", "_jobs", "_left", "_lifetimes",
                 "_processors", "_protocol", "_rounds", "_simulation", "_waiting")  # fmt: skip

    def __init__(self, simulation: Simulation, protocol: MessagePassing) -> None:
        self._simulation, self._protocol = simulation, protocol
        workers = range(simulation.cluster.n_workers)
        self._processors = [simulation.processor(w, self._finished_by(w)) for w in workers]
        seed = simulation.metadata.seed
        self._attempts = [Attempts(protocol.loss, seed, worker) for worker in workers]
        self._jobs = [-1 for _ in workers]
        self._rounds = OpenRounds(simulation)
        self._waiting = [False for _ in workers]
        self._arrived = [defaultdict(int) for _ in workers]  # updates of each round
        self._complete = [-1 for _ in workers]  # rounds of which all has arrived
        self._held = [defaultdict(list) for _ in workers]  # updates of rounds not yet begun
        self._left: dict[int, int] = {}  # workers that have not yet applied a job
        self._lifetimes = Lifetimes(simulation, self._start, self._stop, self._after_crash)
        simulation.settle = self._give_up_the_dead

    def begin(self) -> None:
        self._lifetimes.begin()

    def _start(self, worker: int) -> None:
        self._rounds.enter(worker)
        held, present = self._held[worker], self._rounds.present[worker]
        for round in sorted(r for r in held if r <= present):
            self._apply_held(worker, round)
        self._next_round(worker)

    def _stop(self, worker: int) -> None:
        has_sent = self._waiting[worker]
        self._rounds.leave(worker, has_sent=has_sent)
        self._waiting[worker] = False
        if not has_sent:
            self._processors[worker].cancel()
            del self._left[self._jobs[worker]]
            self._simulation.record.drop(job=self._jobs[worker], share=0.0)

    def _after_crash(self, worker: int) -> None:
        for other, waits in enumerate(self._waiting):
            if waits:
                self._next_round(other)

    def _give_up_the_dead(self) -> None:
        """Updates that nobody misses but those who will not come back are over."""
        dead = self._lifetimes.is_up.count(False)
        for job, left in list(self._left.items()):
            if left <= dead:
                del self._left[job]
                self._simulation.record.drop(job=job, share=1 / len(self._jobs))

    def _has_all(self, worker: int, due: int) -> bool:
        """Whether all updates of the rounds up to `due` have arrived at a worker."""
        arrived, p = self._arrived[worker], len(self._jobs)
        while (after := self._complete[worker] + 1) <= due:
            if arrived[after] < p - len(self._rounds.absent(after)):
                return False
            self._complete[worker] += 1
            del arrived[after]
        return True

    def _next_round(self, worker: int) -> None:
        simulation, p, now = self._simulation, len(self._jobs), self._simulation.env.now
        due = self._rounds.present[worker] - self._protocol.lag
        self._waiting[worker] = not self._has_all(worker, due)
        if self._waiting[worker]:
            others = tuple(w for w in range(p) if w != worker)
            late = self._complete[worker] + 1
            simulation.waits[worker] = Wait(worker, others, f"updates of round {late}")
            return
        simulation.waits.pop(worker, None)
        if not self._rounds.advance(worker):
            return
        record, round = simulation.record, self._rounds.present[worker]
        job = self._jobs[worker] = record.job(worker, round=round)
        self._left[job] = p
        record.read(job, worker)
        record.gradient(job)
        record.begin(job, now)
        self._processors[worker].start()
        self._apply_held(worker, round)

    def _apply_held(self, worker: int, round: int) -> None:
        for early in self._held[worker].pop(round, ()):
            self._apply(worker, early, round)

    def _finished_by(self, worker: int):
        def finished(event: simpy.Event) -> None:
            job = self._jobs[worker]
            self._simulation.record.encode(job)
            self._apply(worker, job, self._rounds.present[worker])
            for receiver in range(len(self._jobs)):
                if receiver != worker:
                    self._send(worker, receiver, job)
            self._next_round(worker)

        return finished

    def _send(self, sender: int, receiver: int, job: int) -> None:
        simulation, round = self._simulation, self._rounds.present[sender]
        lost = self._attempts[sender].next() - 1
        if lost:
            simulation.record.annotate("retransmission", sender, f"to {receiver}, {lost} times")
        n_bytes = simulation.update_bytes

        def arrive() -> None:
            if round > self._rounds.present[receiver]:
                self._held[receiver][round].append(job)
                return
            self._apply(receiver, job, round)
            if self._waiting[receiver]:
                self._next_round(receiver)

        later = lost * self._protocol.timeout_s
        deliver = partial(self._lifetimes.deliver, receiver, arrive)
        simulation.network.send(sender, receiver, n_bytes, deliver, later=later)

    def _apply(self, worker: int, job: int, round: int) -> None:
        record, p = self._simulation.record, len(self._jobs)
        record.add(worker, job=job, weight=1 / p)
        record.step(worker)
        self._arrived[worker][round] += 1
        self._left[job] -= 1
        if self._left[job] == 0:
            del self._left[job]
            record.drop(job=job, share=1 / p)
