"""Batches by arrival: the server steps as soon as enough updates at its present model are in."""

from typing import final

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.protocols.crew import AnyClient, Crew
from elastic_consistency.simulator.protocols.fault_restatement import lost_in_crash
from elastic_consistency.simulator.protocols.restatement import (
    APPLIED_ALONE,
    refuse_unless,
    require_everywhere,
    require_only,
)
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
class ArrivalBatches:
    """The server side of protocols that average the first few updates at each model.

    Args:
        simulation: The run.
        size: Updates a batch.
        again: Whether a worker whose update is in the batch computes another one for it; else
            it waits for the step.
        interrupt: Whether the step stops the computations that are still going on.
    """

    __slots__ = ("_again", "_crew", "_held", "_idle", "_interrupt", "_round", "_simulation",
                 "_size")  # fmt: skip

    def __init__(self, simulation: Simulation, size: int, *, again: bool, interrupt: bool) -> None:
        self._simulation, self._size = simulation, size
        self._again, self._interrupt = again, interrupt
        self._crew = Crew(simulation, self._arrived, self._read)
        self._held: list[int] = []
        self._idle: list[AnyClient] = []
        self._round = 0
        simulation.settle = self._discard_the_rest

    def begin(self) -> None:
        """All workers read."""
        self._crew.begin()

    def _read(self, client: AnyClient) -> None:
        if self._crew.is_present(client):
            self._simulation.waits.pop(client.worker, None)
        client.read(self._round, round=self._round)

    def _arrived(self, client: AnyClient) -> None:
        if client.version < self._round:
            self._simulation.record.drop(job=client.job, share=0.0)
            self._read(client)
            return
        self._held.append(client.job)
        if len(self._held) == self._size:
            self._idle.append(client)
            self._step()
        elif self._again:
            self._read(client)
        elif self._crew.is_present(client):
            self._idle.append(client)
            missing = tuple(c.worker for c in self._crew.clients if c.in_flight)
            self._simulation.waits[client.worker] = Wait(client.worker, missing, "the batch")

    def _step(self) -> None:
        record = self._simulation.record
        for job in self._held:
            record.add(0, job=job, weight=1 / self._size)
        record.step(0)
        for job in self._held:
            record.drop(job=job, share=1 / self._size)
        self._held.clear()
        self._round += 1
        ready, self._idle = self._idle, []
        if self._interrupt:
            late = [client for client in self._crew.clients if client.computing]
            for client in late:
                client.stop()
            ready += late
        for client in ready:
            self._read(client)

    def _discard_the_rest(self) -> None:
        """The limit leaves a batch incomplete: its updates are never applied."""
        for job in self._held:
            self._simulation.record.drop(job=job, share=0.0)
        self._held.clear()


def require_batches(schedule: Schedule, size: int, rule: str) -> np.ndarray:
    """Each STEP takes `size` updates at the present model, with weight and share 1 / size.

    Returns:
        (J,) the round in which each job was read, that is the number of STEPs before its READ.
    """
    rows, jobs = schedule.rows, schedule.jobs
    require_only(schedule, (*APPLIED_ALONE, Op.STEP, Op.CRASH), rule)
    steps = np.cumsum(rows.op == Op.STEP)
    read = np.flatnonzero(rows.op == Op.READ)
    require_everywhere(rows.job[read] == np.arange(len(read)), read, rule, "numbered as they read")
    require_everywhere(steps[read] == jobs.round, read, rule, "a round is the number of steps")
    add = np.flatnonzero(rows.op == Op.ADD)
    refuse_unless(len(add) == size * int(steps[-1]), rule, f"a step takes {size} updates")
    in_turn = steps[add] == np.arange(len(add)) // size
    require_everywhere(in_turn, add, rule, f"a step takes {size} updates")
    require_everywhere(jobs.round[rows.job[add]] == steps[add], add, rule, "at the present model")
    require_everywhere(rows.weight[add] == 1 / size, add, rule, "an update weighs 1/size")
    step = add[size - 1 :: size] + 1
    require_everywhere(rows.op[step] == Op.STEP, step, rule, "a full batch is applied at once")
    used = np.zeros(len(jobs), bool)
    used[rows.job[add]] = True
    finished = ~np.isnan(jobs.share)
    sound = jobs.share[finished] == np.where(used, 1 / size, 0.0)[finished]
    refuse_unless(bool(sound.all()), rule, "a share is 1/size, or 0 when discarded")
    return steps[read]


def require_discards_when_late(schedule: Schedule, rule: str) -> None:
    """An update is discarded only when its model is no longer the present one, or at the end."""
    rows, jobs = schedule.rows, schedule.jobs
    steps = np.cumsum(rows.op == Op.STEP)
    gone = np.flatnonzero((rows.op == Op.DROP) & (jobs.share[rows.job] == 0))
    late = jobs.round[rows.job[gone]] < steps[gone]
    no_more = gone > np.flatnonzero(rows.op != Op.DROP)[-1]
    died = lost_in_crash(schedule)[rows.job[gone]]
    require_everywhere(late | no_more | died, gone, rule, "only a late update is discarded")
