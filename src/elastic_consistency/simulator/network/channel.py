"""A channel: transfers over a link, and then through what all transfers share."""

from collections.abc import Callable
from heapq import heappush
from typing import final

import simpy
from simpy.events import NORMAL

from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.processors.processor_sharing import ProcessorSharing


@final
class Arrival:
    """One transfer whose time is known as it begins: a single entry in the queue of SimPy.

    SimPy asks no more of an event than callbacks and whether it is well.

    Args:
        env: Where time passes.
        seconds: What it takes, s.
        done: Called when it has arrived.
    """

    __slots__ = ("_done", "callbacks")
    _ok = True

    def __init__(self, env: simpy.Environment, seconds: float, done: Callable[[], None]) -> None:
        self._done = done
        self.callbacks = (self._arrive,)
        heappush(env._queue, (env._now + seconds, NORMAL, next(env._eid), self))  # type: ignore[arg-type]

    def cancel(self) -> None:
        """Nobody waits for it any more; it has not arrived yet."""
        self.callbacks = ()

    def _arrive(self, event: simpy.Event) -> None:
        self._done()


@final
class Transfer:
    """One transfer on its way.

    Args:
        env: Where time passes.
        seconds: What it takes on its link, s.
        n_bytes: Its size.
        port: What it shares afterwards with all other transfers; None for nothing.
        done: Called when it has arrived.
    """

    __slots__ = ("_alarm", "_done", "_n_bytes", "_port", "_task")

    def __init__(
        self,
        env: simpy.Environment,
        seconds: float,
        n_bytes: float,
        port: ProcessorSharing | None,
        done: Callable[[], None],
    ) -> None:
        self._n_bytes, self._port, self._done = n_bytes, port, done
        self._task = 0
        self._alarm = Alarm(env, self._on_link_passed)
        self._alarm.set(seconds)

    def cancel(self) -> None:
        """Nobody waits for it any more; it has not arrived yet."""
        if self._task and self._port is not None:
            self._port.cancel(self._task)
        else:
            self._alarm.cancel()

    def _on_link_passed(self, event: simpy.Event) -> None:
        if self._port is None:
            self._done()
        else:
            self._task = self._port.start(self._n_bytes, self._done)


@final
class Channel:
    """Transfers of one size between the server and one worker, any number at a time.

    Args:
        env: Where time passes.
        seconds: Seconds of the next transfer on the link, which begins now.
        n_bytes: Size of each.
        port: The server's port in this direction; None when it is not shared.
    """

    __slots__ = ("_env", "_n_bytes", "_port", "_seconds")

    def __init__(
        self,
        env: simpy.Environment,
        seconds: Callable[[float], float],
        n_bytes: float,
        port: ProcessorSharing | None,
    ) -> None:
        self._env, self._seconds, self._n_bytes, self._port = env, seconds, n_bytes, port

    def send(self, done: Callable[[], None]) -> Transfer:
        """Send one; `done` is called when it arrives."""
        return Transfer(self._env, self._seconds(self._env.now), self._n_bytes, self._port, done)

    def passes_at_once(self, done: Callable[[], None]) -> bool:
        """True, and nothing is called, if the next transfer takes no time; else it is sent."""
        seconds = self._seconds(self._env.now)
        if seconds == 0 and self._port is None:
            return True
        Transfer(self._env, seconds, self._n_bytes, self._port, done)
        return False
