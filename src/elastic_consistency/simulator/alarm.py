"""Alarms: SimPy events that are set again and again."""

from collections.abc import Callable
from heapq import heappush
from typing import final

import simpy
from simpy.events import NORMAL


@final
class Alarm:
    """One recycled event with one callback.

    A new event for each thing that happens costs as much as the rest of the simulation, and a
    process with a generator twice as much.

    Args:
        env: Where time passes.
        ring: Called when the time has come; its argument is of no use.
    """

    __slots__ = ("_callbacks", "_env", "_event", "_next_number", "_queue")

    def __init__(self, env: simpy.Environment, ring: Callable[[simpy.Event], None]) -> None:
        self._env = env
        self._callbacks = [ring]
        # What Environment.schedule() does, without the call: it is once in every event.
        self._queue, self._next_number = env._queue, env._eid.__next__
        self._event = _triggered(env)

    def set(self, seconds: float) -> None:
        """Ring once, `seconds` from now; it must not be set already."""
        self._event.callbacks = self._callbacks
        heappush(self._queue, (self._env._now + seconds, NORMAL, self._next_number(), self._event))

    def cancel(self) -> None:
        """Do not ring after all; the alarm can be set again at once."""
        # SimPy cannot take an event out of its queue: the old one passes without effect.
        self._event.callbacks = []
        self._event = _triggered(self._env)


def _triggered(env: simpy.Environment) -> simpy.Event:
    event = simpy.Event(env)
    # What Environment.run() does with its own event: triggered, but not yet in the queue.
    event._ok = True
    event._value = None
    return event
