"""Processor sharing: what is done at the same time slows each other down."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import final

import simpy

from elastic_consistency.simulator.alarm import Alarm


@final
class ProcessorSharing:
    """Tasks that progress at one speed, which depends on how many there are.

    Progress is measured in virtual time, which all tasks share: a task that starts at virtual
    time v ends at v + work, whoever comes and goes meanwhile, so that an arrival costs
    O(log tasks) and no task is ever recomputed.

    Args:
        env: Where time passes.
        speed: Work a second of each task when so many are active, > 0.
    """

    __slots__ = ("_alarm", "_counter", "_env", "_gone", "_is_set", "_since", "_speed", "_tasks",
                 "_virtual")  # fmt: skip

    def __init__(self, env: simpy.Environment, speed: Callable[[int], float]) -> None:
        self._env, self._speed = env, speed
        self._alarm = Alarm(env, self._on_end)
        self._tasks: list[tuple[float, int, Callable[[], None]]] = []
        self._gone: set[int] = set()
        self._virtual = self._since = 0.0
        self._counter = 0
        self._is_set = False

    @property
    def n_active(self) -> int:
        """Tasks that are being worked on."""
        return len(self._tasks) - len(self._gone)

    def start(self, work: float, done: Callable[[], None]) -> int:
        """Begin a task; `done` is called when it ends. Returns its number, for `cancel`."""
        self._advance()
        self._counter += 1
        heappush(self._tasks, (self._virtual + work, self._counter, done))
        self._set_alarm()
        return self._counter

    def cancel(self, number: int) -> None:
        """Give up a task that has not ended."""
        self._advance()
        self._gone.add(number)
        self._set_alarm()

    def _advance(self) -> None:
        now = self._env.now
        if self.n_active:
            self._virtual += (now - self._since) * self._speed(self.n_active)
        self._since = now

    def _set_alarm(self) -> None:
        if self._is_set:
            self._alarm.cancel()
        while self._tasks and self._tasks[0][1] in self._gone:
            self._gone.discard(heappop(self._tasks)[1])
        self._is_set = bool(self._tasks)
        if self._tasks:
            left = max(0.0, self._tasks[0][0] - self._virtual)
            self._alarm.set(left / self._speed(self.n_active))

    def _on_end(self, event: simpy.Event) -> None:
        self._is_set = False
        # Exactly, and not up to rounding: this task is the one whose time has come.
        end, _, done = heappop(self._tasks)
        self._virtual, self._since = end, self._env.now
        self._set_alarm()
        done()
