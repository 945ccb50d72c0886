"""A worker of the asynchronous server on a cluster where things go wrong or are shared."""

from math import isfinite
from typing import final

import simpy

from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.schedule import ABSENT, SERVER
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.fault_script import Crash, LateStart, RandomCrashes
from elastic_consistency.simulator.processor_sharing import ProcessorSharing
from elastic_consistency.simulator.protocols.client import apply_alone
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
class UnreliableClient:
    """Read, travel, compute, travel, be applied; crash, restart, be cut off, be heard twice.

    Args:
        simulation: The run.
        worker: The worker.
        ports: The server's ports out and in, shared by all transfers; None when they are not.
        host: The machine, shared by all computations on it; None when it is not.
    """

    __slots__ = ("_computed", "_down", "_host", "_is_up", "_job", "_losses", "_place", "_ports",
                 "_pulled", "_script", "_seconds", "_simulation", "_task", "_up",
                 "_worker")  # fmt: skip

    def __init__(
        self,
        simulation: Simulation,
        worker: int,
        ports: tuple[ProcessorSharing, ProcessorSharing] | None,
        host: ProcessorSharing | None,
    ) -> None:
        self._simulation, self._worker = simulation, worker
        self._script, self._ports, self._host = simulation.cluster.faults, ports, host
        payload, seed = simulation.payload, simulation.metadata.seed
        self._seconds = simulation.computation(worker)
        self._down = simulation.transfer(SERVER, worker, payload.model_bytes)
        self._up = simulation.transfer(worker, SERVER, payload.update_bytes)
        self._losses = Stream(seed, Cause.FAULT, worker)
        self._pulled = Alarm(simulation.env, self._on_pulled)
        self._computed = Alarm(simulation.env, self._on_computed)
        self._job, self._task = ABSENT, 0
        self._is_up = True
        self._place = "idle"

    def begin(self) -> None:
        """Read at time 0, or later; set the alarms of the faults."""
        starts = [f.at_s for f in self._script.faults
                  if isinstance(f, LateStart) and f.worker == self._worker]  # fmt: skip
        if starts:
            self._is_up = False
            self._after(starts[0], self._join)
        else:
            self._read()
        for fault in self._script.faults:
            if isinstance(fault, Crash) and fault.worker == self._worker:
                self._plan_crash(fault)
            elif isinstance(fault, RandomCrashes) and fault.worker == self._worker:
                self._plan_random_crashes(fault)

    def _after(self, seconds: float, act) -> None:
        Alarm(self._simulation.env, lambda event: act()).set(seconds)

    def _join(self) -> None:
        self._simulation.record.annotate("join", self._worker)
        self._is_up = True
        self._read()

    def _plan_crash(self, crash: Crash) -> None:
        def act() -> None:
            if self._is_up and not self._simulation.refused:
                self._crash()
                if isfinite(crash.down_s):
                    self._after(crash.down_s, self._restart)

        self._after(crash.at_s, act)

    def _plan_random_crashes(self, law: RandomCrashes) -> None:
        # The losses of acknowledgements use the same stream, at the other positions.
        between, down = (
            independent_draws(
                part, self._simulation.metadata.seed, Cause.FAULT, self._worker, lane=lane, lanes=3
            )
            for lane, part in ((1, law.between), (2, law.down))
        )

        def crash() -> None:
            if self._simulation.refused:
                return
            if self._is_up:
                self._crash()
                self._after(down(0.0), restart)
            else:
                self._after(between(0.0), crash)

        def restart() -> None:
            self._restart()
            self._after(between(0.0), crash)

        self._after(between(0.0), crash)

    def _crash(self) -> None:
        record = self._simulation.record
        self._is_up = False
        if self._place == "pulling":
            if self._task and self._ports is not None:
                self._ports[0].cancel(self._task)
            else:
                self._pulled.cancel()
            record.drop(job=self._job, share=0.0)
        elif self._place == "computing":
            if self._host is None:
                self._computed.cancel()
            else:
                self._host.cancel(self._task)
            record.drop(job=self._job, share=0.0)
        self._place = "idle"
        record.crash(self._worker)
        self._simulation.waits[self._worker] = Wait(self._worker, (), "it has crashed")

    def _restart(self) -> None:
        self._simulation.waits.pop(self._worker, None)
        self._simulation.record.annotate("restart", self._worker)
        self._is_up = True
        self._read()

    def _read(self) -> None:
        simulation, record = self._simulation, self._simulation.record
        now = simulation.env.now
        if not simulation.admit(now):
            self._place = "idle"
            return
        self._job, self._task = record.job(self._worker), 0
        record.read(self._job, 0)
        record.gradient(self._job)
        self._place = "pulling"
        arrival = self._script.heals(self._worker, now + self._down(now))
        self._pulled.set(arrival - now)

    def _on_pulled(self, event: simpy.Event) -> None:
        if self._ports is None:
            self._compute()
        else:
            n_bytes = self._simulation.payload.model_bytes
            self._task = self._ports[0].start(n_bytes, self._compute)

    def _compute(self) -> None:
        now = self._simulation.env.now
        self._place = "computing"
        self._simulation.record.begin(self._job, now)
        if self._host is None:
            self._computed.set(self._seconds(now))
        else:
            self._task = self._host.start(self._seconds(now), self._finish)

    def _on_computed(self, event: simpy.Event) -> None:
        self._finish()

    def _finish(self) -> None:
        simulation, now, job = self._simulation, self._simulation.env.now, self._job
        simulation.record.encode(job)
        self._place = "pushing"
        arrival = self._script.heals(self._worker, now + self._up(now))

        def arrive() -> None:
            if self._ports is None:
                self._on_arrived(job)
            else:
                n_bytes = simulation.payload.update_bytes
                self._ports[1].start(n_bytes, lambda: self._on_arrived(job))

        self._after(arrival - now, arrive)

    def _on_arrived(self, job: int) -> None:
        apply_alone(self._simulation, job)
        chance = self._script.lost_acknowledgements
        if chance > 0 and self._next_loss() < chance:
            self._after(self._script.resend_s, self._duplicate)
        # Its own job: the worker may have crashed, or have restarted with another one.
        if self._is_up and job == self._job:
            self._read()

    def _next_loss(self) -> float:
        # Positions 3 k + 1 and 3 k + 2 of the stream belong to the crashes.
        u = self._losses.draw()
        self._losses.draw()
        self._losses.draw()
        return u

    def _duplicate(self) -> None:
        self._simulation.record.annotate("duplicate", self._worker, "recognised, not applied")
