"""Ringmaster ASGD: what is too stale never enters."""

from collections import deque
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.schedule import SERVER, Op
from elastic_consistency.simulator.protocols.base import AbstractUnreliableProtocol
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.fault_restatement import lost_in_crash
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation


@final
@dataclass(frozen=True, slots=True)
class Ringmaster(AbstractUnreliableProtocol):
    """An update is applied if fewer than `threshold` others came in between, else discarded.

    Either way the worker reads the present model at once. With `stop`, a computation whose
    staleness reaches the threshold is given up on the spot instead of being discarded later.

    Attributes:
        threshold: R, staleness from which on an update is worthless, >= 1.
        stop: Whether hopeless computations are stopped.

    Source: Maranjyan, Tyurin, Richtarik (2025), arXiv:2501.16168, Algorithms 4 and 5.
    """

    threshold: int
    stop: bool = False

    def __post_init__(self) -> None:
        check(self.threshold >= 1, self, "threshold", "a number of steps >= 1")

    def hosts(self, cluster):
        return (SERVER,)

    def start(self, simulation):
        _Ring(simulation, self.threshold, stop=self.stop).begin()

    def restate(self, schedule):
        rule, rows, jobs = "Ringmaster", schedule.rows, schedule.jobs
        require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.CRASH), rule)
        steps = np.cumsum(rows.op == Op.STEP)
        read = np.flatnonzero(rows.op == Op.READ)
        numbered = rows.job[read] == np.arange(len(read))
        require_everywhere(numbered, read, rule, "jobs are numbered as they read")
        drop = np.flatnonzero(rows.op == Op.DROP)
        applied = jobs.share[rows.job[drop]] == 1
        stale = steps[drop] - steps[read[rows.job[drop]]]
        fresh = np.where(applied, stale <= self.threshold, stale >= self.threshold)
        died = lost_in_crash(schedule)
        fresh |= died[rows.job[drop]]
        require_everywhere(fresh, drop, rule, "applied below the threshold, else discarded")
        taken, following = drop[applied], np.append(rows.op, (-1, -1))
        together = (following[taken - 2] == Op.ADD) & (following[taken - 1] == Op.STEP)
        require_everywhere(together, taken, rule, "ADD, STEP and DROP in one breath")
        same = rows.job[taken - 2] == rows.job[taken]
        require_everywhere(same & (rows.weight[taken - 2] == 1), taken, rule, "with weight 1")
        refuse_unless(int((rows.op == Op.ADD).sum()) == len(taken), rule, "nothing else is added")
        ended = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool(np.isin(ended, (0, 1)).all()), rule, "a share is 1, or 0 if discarded")
        encoded = np.zeros(len(jobs), bool)
        encoded[rows.job[rows.op == Op.ENCODE]] = True
        lost = (jobs.share == 0) & ~died
        refuse_unless(self.stop or bool(encoded[lost].all()), rule, "nothing is stopped")

    def restate_with_faults(self, schedule):
        self.restate(schedule)


@final
class _Ring:
    """Server and workers of one run."""

    __slots__ = ("_crew", "_reads", "_simulation", "_stop", "_threshold", "_version")

    def __init__(self, simulation: Simulation, threshold: int, *, stop: bool) -> None:
        self._simulation, self._threshold, self._stop = simulation, threshold, stop
        self._crew = Crew(simulation, self._arrived, self._read)
        self._version = 0
        self._reads: deque[tuple[int, int, AnyClient]] = deque()  # version, job, client; in order

    def begin(self) -> None:
        self._crew.begin()

    def _read(self, client: AnyClient) -> None:
        if client.read(self._version) and self._stop:
            self._reads.append((self._version, client.job, client))

    def _arrived(self, client: AnyClient) -> None:
        if self._version - client.version >= self._threshold:
            self._simulation.record.drop(job=client.job, share=0.0)
            self._read(client)
            return
        apply_alone(self._simulation, client.job)
        self._version += 1
        self._read(client)
        self._stop_the_hopeless()

    def _stop_the_hopeless(self) -> None:
        reads, last = self._reads, self._version - self._threshold
        while reads and reads[0][0] <= last:
            _, job, client = reads.popleft()
            if client.job == job and client.computing:
                client.stop()
                self._read(client)
