"""Lifetimes: when each worker is there, as the fault script says."""

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import final

import simpy

from elastic_consistency.random_streams import Cause
from elastic_consistency.schedule import SERVER
from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.faults.fault_script import Crash, RandomCrashes
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
class Lifetimes:
    """Lets workers begin, crash, restart and join late.

    A worker that is not there neither computes nor sends. What it has sent before still arrives,
    and what arrives at it waits for it, as at a host whose transport tries again.

    Args:
        simulation: The run.
        start: Called with a worker that begins, joins or restarts.
        stop: Called with a worker that is about to crash; it drops what is lost.
        gone: Called with a worker that has crashed, after its CRASH row.

    Attributes:
        is_up: For each worker, whether it is there.
    """

    __slots__ = ("_gone", "_mail", "_simulation", "_start", "_stop", "is_up")

    def __init__(
        self,
        simulation: Simulation,
        start: Callable[[int], None],
        stop: Callable[[int], None],
        gone: Callable[[int], None] = lambda worker: None,
    ) -> None:
        self._simulation, self._start, self._stop, self._gone = simulation, start, stop, gone
        late = simulation.cluster.faults.late_starts()
        self.is_up = [worker not in late for worker in range(simulation.cluster.n_workers)]
        self._mail: dict[int, list[Callable[[], None]]] = {}

    def deliver(self, worker: int, act: Callable[[], None]) -> None:
        """Do `act`, something that has arrived at `worker`, now or as soon as it is there."""
        if self.is_up[worker]:
            act()
        else:
            self._mail.setdefault(worker, []).append(act)

    def begin(self) -> None:
        """Start all workers that are there from the beginning, and plan the rest."""
        script = self._simulation.cluster.faults
        if script.moves_workers:
            self._simulation.record.annotate("faults", SERVER, "workers may come and go")
        late = script.late_starts()
        for worker, seconds in sorted(late.items()):
            self._simulation.record.annotate("late start", worker, f"{seconds!r} s")
        for worker in range(len(self.is_up)):
            if worker in late:
                self._after(late[worker], partial(self._enter, worker, "join"))
            else:
                self._start(worker)
            for fault in script.faults:
                if isinstance(fault, Crash) and fault.worker == worker:
                    self._plan_crash(fault)
                elif isinstance(fault, RandomCrashes) and fault.worker == worker:
                    self._plan_random_crashes(fault)

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        def ring(event: simpy.Event) -> None:
            act()

        Alarm(self._simulation.env, ring).set(seconds)

    def _enter(self, worker: int, kind: str) -> None:
        self._simulation.waits.pop(worker, None)
        self._simulation.record.annotate(kind, worker)
        self.is_up[worker] = True
        for act in self._mail.pop(worker, ()):
            act()
        self._start(worker)

    def _plan_crash(self, crash: Crash) -> None:
        def act() -> None:
            if self.is_up[crash.worker] and not self._simulation.refused:
                self._crash(crash.worker)
                if isfinite(crash.down_s):
                    self._after(crash.down_s, partial(self._enter, crash.worker, "restart"))

        self._after(crash.at_s, act)

    def _plan_random_crashes(self, law: RandomCrashes) -> None:
        # The losses of acknowledgements use the same stream, at the other positions.
        seed, worker = self._simulation.metadata.seed, law.worker
        between, down = (
            independent_draws(part, seed, Cause.FAULT, worker, lane=lane, lanes=3)
            for lane, part in ((1, law.between), (2, law.down))
        )

        def crash() -> None:
            if self._simulation.refused:
                return
            if self.is_up[worker]:
                self._crash(worker)
                self._after(down(0.0), restart)
            else:
                self._after(between(0.0), crash)

        def restart() -> None:
            self._enter(worker, "restart")
            self._after(between(0.0), crash)

        self._after(between(0.0), crash)

    def _crash(self, worker: int) -> None:
        self.is_up[worker] = False
        self._stop(worker)
        self._simulation.record.crash(worker)
        self._simulation.waits[worker] = Wait(worker, (), "it has crashed")
        self._gone(worker)
