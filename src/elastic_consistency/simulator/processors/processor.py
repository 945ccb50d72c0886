"""A worker's processor: runs its computations, alone or on a host that it shares."""

from collections.abc import Callable
from typing import final

import simpy

from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.delays.draws import Draw
from elastic_consistency.simulator.processors.processor_sharing import ProcessorSharing


@final
class Processor:
    """One computation at a time.

    Args:
        env: Where time passes.
        seconds: Draws of the computations, s.
        host: The machine, when several workers share it.
        done: Called at the end of each computation; its argument is of no use.
    """

    __slots__ = ("_alarm", "_done", "_env", "_host", "_is_pending", "_seconds", "_task")

    def __init__(
        self,
        env: simpy.Environment,
        seconds: Draw,
        host: ProcessorSharing | None,
        done: Callable[[simpy.Event], None],
    ) -> None:
        self._env, self._seconds, self._host, self._done = env, seconds, host, done
        self._alarm = Alarm(env, done if host is None else self._enter)
        self._is_pending = False
        self._task = 0

    def start(self, delay: float = 0.0) -> None:
        """Begin the next computation `delay` seconds from now."""
        if self._host is None:
            self._alarm.set(delay + self._seconds(self._env.now + delay))
        elif delay > 0:
            self._is_pending = True
            self._alarm.set(delay)
        else:
            self._enter(simpy.Event(self._env))

    def serving(self, done: Callable[[simpy.Event], None]) -> "Processor":
        """The same worker's processor for somebody else; the draws go on."""
        return Processor(self._env, self._seconds, self._host, done)

    def cancel(self) -> None:
        """Give up the computation that has been started and has not ended."""
        if self._host is None or self._is_pending:
            self._is_pending = False
            self._alarm.cancel()
        else:
            self._host.cancel(self._task)

    def _enter(self, event: simpy.Event) -> None:
        assert self._host is not None
        self._is_pending = False
        work = self._seconds(self._env.now)
        self._task = self._host.start(work, lambda: self._done(event))
