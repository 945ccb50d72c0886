"""Rounds of gossip: every node steps on its replica and mixes it with its neighbours'."""

from collections import defaultdict
from dataclasses import dataclass
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.protocols.base import AbstractProtocol
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
    rows_of_jobs,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait
from elastic_consistency.simulator.topology import AbstractTopology


@final
@dataclass(frozen=True, slots=True)
class Gossip(AbstractProtocol):
    """Step first, then mix: X <- W (X - step size * G), round by round, neighbour by neighbour.

    A node goes on when the messages of its own neighbours are in; there is no barrier. On an
    undirected graph this is D-PSGD, on the one-peer exponential graph stochastic gradient push
    (SGP). With `lag` > 0 it is overlap SGP: a node mixes whatever has arrived and waits only
    for messages that are more than `lag` rounds late, while their mass is in flight. Replicas
    carry a mass, and a view is the replica divided by it.

    Attributes:
        topology: Who sends to whom.
        lag: tau, rounds by which a message may be late, >= 0.

    Source: Lian et al. (2017), arXiv:1705.09056; Assran, Loizou, Ballas, Rabbat (2019),
    arXiv:1811.10792, Algorithms 1 and 2.
    """

    topology: AbstractTopology
    lag: int = 0

    def __post_init__(self) -> None:
        check(self.lag >= 0, self, "lag", "a number of rounds >= 0")

    def hosts(self, cluster):
        nodes = self.topology.n_nodes()
        allowed = f"a topology of the {cluster.n_workers} workers of the cluster"
        check(nodes == cluster.n_workers, self, "topology", allowed)
        return tuple(range(nodes))

    def start(self, simulation):
        _Network(simulation, self).begin()

    def restate(self, schedule):
        rule, rows, jobs = "gossip", schedule.rows, schedule.jobs
        n = schedule.metadata.n_workers
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX), rule)
        found = rows_of_jobs(schedule, APPLIED_ALONE, rule)
        own = rows.replica[found[:, 0]] == jobs.worker
        require_everywhere(own, found[:, 0], rule, "a node reads its own replica")
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == 1 / n).all()), rule, "a share is 1/n")
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1, add, rule, "a step takes one whole update")
        require_steps_after_adds(schedule, rule)
        self._require_mixing(schedule, found, rule)

    def _require_mixing(self, schedule: Schedule, found: np.ndarray, rule: str) -> None:
        """Each node's messages of each round carry the topology's weights, in time."""
        rows, jobs = schedule.rows, schedule.jobs
        put = np.flatnonzero(rows.op == Op.PUT)
        sent = {int(m): row for m, row in zip(rows.message[put], put, strict=True)}
        round_of = np.full(len(rows), -1)
        round_of[found[:, 3][found[:, 3] >= 0]] = jobs.round[found[:, 3] >= 0]
        begun = np.full(schedule.metadata.n_workers, -1)
        latest = dict.fromkeys(range(schedule.metadata.n_workers), -1)
        taken: dict[tuple[int, int, int], int] = {}
        numbers: dict[int, int] = {}
        for row in range(len(rows)):
            node, op = int(rows.replica[row]), rows.op[row]
            if op == Op.READ:
                begun[node] = jobs.round[rows.job[row]]
                self._require_in_time(node, int(begun[node]), taken, rule, row)
            elif op == Op.ADD:
                latest[node] = int(jobs.round[rows.job[row]])
            elif op == Op.PUT:
                numbers[int(rows.message[row])] = latest[node]
                given = sum(w for _, w in self.topology.receivers(node, latest[node]))
                refuse_unless(abs(rows.keep[row] - (1 - given)) < 1e-12, rule, "W_ii", row=row)
            elif op == Op.MIX:
                message = int(rows.message[row])
                sender, number = int(rows.replica[sent[message]]), numbers[message]
                weights = dict(self.topology.receivers(sender, number))
                fits = weights.get(node) == rows.weight[row]
                refuse_unless(fits, rule, "the weight of a message is W_ij", row=row)
                taken[node, sender, number] = row

    def _require_in_time(self, node: int, round: int, taken: dict, rule: str, row: int) -> None:
        due = round - 1 - self.lag
        late = [s for s in self.topology.senders(node, due) if (node, s, due) not in taken]
        in_time = due < 0 or not late
        refuse_unless(in_time, rule, "no message is later than the lag", row=row)


@final
class _Node:
    """A node: its round, its job, what has arrived and what is due."""

    __slots__ = ("inbox", "job", "processor", "received", "round", "stopped", "waiting")

    def __init__(self) -> None:
        self.round = -1
        self.job = -1
        self.waiting = self.stopped = False
        #: Messages that arrived and are not yet mixed: (round, sender, message, weight).
        self.inbox: list[tuple[int, int, int, float]] = []
        self.received: dict[int, int] = defaultdict(int)


@final
class _Network:
    """The nodes of one run."""

    __slots__ = ("_lag", "_left", "_nodes", "_rounds", "_simulation", "_topology")

    def __init__(self, simulation: Simulation, protocol: Gossip) -> None:
        self._simulation, self._topology = simulation, protocol.topology
        self._lag = protocol.lag
        self._rounds = 0
        self._left: dict[int, int] = {}  # recipients that have not yet mixed a message
        self._nodes = [_Node() for _ in range(simulation.cluster.n_workers)]
        for number, node in enumerate(self._nodes):
            node.processor = simulation.processor(number, self._finished_by(number))

    def begin(self) -> None:
        for number in range(len(self._nodes)):
            self._next_round(number)

    def _next_round(self, number: int) -> None:
        simulation, node, now = self._simulation, self._nodes[number], self._simulation.env.now
        if node.round + 1 == self._rounds:
            # Rounds are admitted whole: nobody then waits for a node that has stopped.
            if not simulation.admit(now, len(self._nodes)):
                node.stopped = True
                return
            self._rounds += 1
        node.round += 1
        record = simulation.record
        node.job = record.job(number, round=node.round)
        record.read(node.job, number)
        record.gradient(node.job)
        record.begin(node.job, now)
        node.processor.start()

    def _finished_by(self, number: int):
        def finished(event: simpy.Event) -> None:
            record, node = self._simulation.record, self._nodes[number]
            record.encode(node.job)
            record.add(number, job=node.job)
            record.step(number)
            record.drop(job=node.job, share=1 / len(self._nodes))
            self._send(number, node.round)
            node.waiting = True
            self._go_on_if_ready(number)

        return finished

    def _send(self, number: int, round: int) -> None:
        simulation, receivers = self._simulation, self._topology.receivers(number, round)
        if not receivers:
            return
        message = simulation.record.message(moves=True)
        kept = 1 - sum(weight for _, weight in receivers)
        simulation.record.put(message, replica=number, keep=kept)
        self._left[message] = len(receivers)
        for receiver, weight in receivers:
            letter = (round, number, message, weight)
            n_bytes = simulation.payload.model_bytes
            simulation.network.send(number, receiver, n_bytes, self._delivery(receiver, letter))

    def _delivery(self, receiver: int, letter: tuple[int, int, int, float]):
        def deliver() -> None:
            node = self._nodes[receiver]
            node.inbox.append(letter)
            node.received[letter[0]] += 1
            if node.stopped:
                self._mix(receiver, last=letter[0])
            elif node.waiting:
                self._go_on_if_ready(receiver)

        return deliver

    def _go_on_if_ready(self, number: int) -> None:
        node, simulation = self._nodes[number], self._simulation
        due = node.round - self._lag
        senders = self._topology.senders(number, due) if due >= 0 else ()
        if due >= 0 and node.received[due] < len(senders):
            simulation.waits[number] = Wait(number, senders, f"messages of round {due}")
            return
        simulation.waits.pop(number, None)
        node.waiting = False
        node.received.pop(due, None)
        self._mix(number, last=node.round)
        self._next_round(number)

    def _mix(self, number: int, *, last: int) -> None:
        """Take in what has arrived of rounds up to `last`, in the order of rounds and senders."""
        record, node = self._simulation.record, self._nodes[number]
        taken = sorted(letter for letter in node.inbox if letter[0] <= last)
        node.inbox = [letter for letter in node.inbox if letter[0] > last]
        for _, _, message, weight in taken:
            record.mix(number, message, keep=1.0, weight=weight)
            self._left[message] -= 1
            if self._left[message] == 0:
                record.drop(message=message)
                del self._left[message]
