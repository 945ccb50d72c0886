"""Rounds of gossip: every node steps on its replica and mixes it with its neighbours'."""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
import simpy

from elastic_consistency._checks import check
from elastic_consistency.schedule import Op
from elastic_consistency.simulator.faults.lifetimes import Lifetimes
from elastic_consistency.simulator.network.topology import AbstractTopology
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.fault_restatement import require_lives
from elastic_consistency.simulator.protocols.gossip_restatement import require_mixing
from elastic_consistency.simulator.protocols.open_rounds import OpenRounds
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
    require_steps_after_adds,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
@dataclass(frozen=True, slots=True)
class Gossip(AbstractUnreliableProtocol):
    """Step first, then mix: X <- W (X - step size * G), round by round, neighbour by neighbour.

    A node goes on when the messages of its own neighbours are in; there is no barrier. On an
    undirected graph this is D-PSGD, on the one-peer exponential graph stochastic gradient push
    (SGP). With `lag` > 0 it is overlap SGP: a node mixes whatever has arrived and waits only
    for messages that are more than `lag` rounds late, while their mass is in flight. Replicas
    carry a mass, and a view is the replica divided by it.

    When workers crash, restart or join late, the rounds are those of OpenRounds: a node keeps the
    weight of a neighbour that is absent, so that mass is never lost. A replica, with its mass, is
    as durable as a checkpoint: who comes back goes on from its own, once it has mixed what has
    arrived meanwhile.

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
        self.restate_with_faults(schedule)

    def restate_with_faults(self, schedule):
        rule, rows, jobs = "gossip", schedule.rows, schedule.jobs
        n = schedule.metadata.n_workers
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.PUT, Op.MIX, Op.CRASH), rule)
        found = require_lives(schedule, APPLIED_ALONE, rule)
        own = rows.replica[found[:, 0]] == jobs.worker
        require_everywhere(own, found[:, 0], rule, "a node reads its own replica")
        share = jobs.share[found[:, 3] >= 0]
        refuse_unless(bool((np.isnan(share) | (share == 1 / n)).all()), rule, "a share is 1/n")
        add = np.flatnonzero(rows.op == Op.ADD)
        require_everywhere(rows.weight[add] == 1, add, rule, "a step takes one whole update")
        require_steps_after_adds(schedule, rule)
        require_mixing(schedule, self.topology, self.lag, rule)


@final
class _Node:
    """A node: its job, what has arrived and what is due."""

    __slots__ = ("due", "inbox", "job", "needed", "processor", "received", "stopped", "waiting")

    def __init__(self) -> None:
        self.job = -1
        #: Round of which it must have messages before it goes on, and how many.
        self.due = self.needed = 0
        self.waiting = self.stopped = False
        #: Messages that arrived and are not yet mixed: (round, sender, message, weight).
        self.inbox: list[tuple[int, int, int, float]] = []
        self.received: dict[int, int] = defaultdict(int)


@final
class _Network:
    """The nodes of one run."""

    __slots__ = ("_lag", "_left", "_lifetimes", "_nodes", "_rounds", "_simulation", "_topology")

    def __init__(self, simulation: Simulation, protocol: Gossip) -> None:
        self._simulation, self._topology = simulation, protocol.topology
        self._lag = protocol.lag
        self._rounds = OpenRounds(simulation)
        self._left: dict[int, int] = {}  # recipients that have not yet mixed a message
        self._nodes = [_Node() for _ in range(simulation.cluster.n_workers)]
        for number, node in enumerate(self._nodes):
            node.processor = simulation.processor(number, self._finished_by(number))
        self._lifetimes = Lifetimes(simulation, self._start, self._stop, self._after_crash)

    def begin(self) -> None:
        self._lifetimes.begin()

    def _start(self, number: int) -> None:
        self._rounds.enter(number)
        self._nodes[number].waiting = True
        self._go_on_if_ready(number)

    def _stop(self, number: int) -> None:
        node = self._nodes[number]
        self._rounds.leave(number, has_sent=node.waiting)
        if not node.waiting:
            node.processor.cancel()
            self._simulation.record.drop(job=node.job, share=0.0)
        node.waiting = False

    def _after_crash(self, number: int) -> None:
        for other, node in enumerate(self._nodes):
            if node.waiting:
                self._go_on_if_ready(other)

    def _next_round(self, number: int) -> None:
        simulation, node, now = self._simulation, self._nodes[number], self._simulation.env.now
        if not self._rounds.advance(number):
            node.stopped = True
            return
        record = simulation.record
        node.job = record.job(number, round=self._rounds.present[number])
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
            self._send(number, self._rounds.present[number])
            node.waiting = True
            self._go_on_if_ready(number)

        return finished

    def _send(self, number: int, round: int) -> None:
        simulation, receivers = self._simulation, self._topology.receivers(number, round)
        absent = self._rounds.absent(round)
        if absent:
            receivers = tuple((r, weight) for r, weight in receivers if r not in absent)
        if not receivers:
            return
        message = simulation.record.message(moves=True)
        kept = 1 - sum(weight for _, weight in receivers)
        simulation.record.put(message, replica=number, keep=kept)
        self._left[message] = len(receivers)
        network, n_bytes, deliver = simulation.network, simulation.model_bytes, self._deliver
        for receiver, weight in receivers:
            letter = (round, number, message, weight)
            network.send(number, receiver, n_bytes, partial(deliver, receiver, letter))

    def _deliver(self, receiver: int, letter: tuple[int, int, int, float]) -> None:
        if not self._lifetimes.is_up[receiver]:
            self._lifetimes.deliver(receiver, partial(self._deliver, receiver, letter))
            return
        node, round = self._nodes[receiver], letter[0]
        node.inbox.append(letter)
        node.received[round] += 1
        if node.stopped:
            self._mix(receiver, last=round)
        elif node.waiting and round == node.due and node.received[round] >= node.needed:
            self._go_on_if_ready(receiver)

    def _go_on_if_ready(self, number: int) -> None:
        node, simulation = self._nodes[number], self._simulation
        round = self._rounds.present[number]
        due = node.due = round - self._lag
        senders = self._senders(number, due)
        node.needed = len(senders)
        if node.received[due] < node.needed:
            simulation.waits[number] = Wait(number, senders, f"messages of round {due}")
            return
        simulation.waits.pop(number, None)
        node.waiting = False
        node.received.pop(due, None)
        self._mix(number, last=round)
        self._next_round(number)

    def _senders(self, number: int, round: int) -> tuple[int, ...]:
        """Whose messages of a round a node must have."""
        if round < 0:
            return ()
        senders, absent = self._topology.senders(number, round), self._rounds.absent(round)
        if not absent:
            return senders
        return () if number in absent else tuple(s for s in senders if s not in absent)

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
