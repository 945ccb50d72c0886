"""Phases of slowness and of suspension, walked forward in time."""

from typing import final

from elastic_consistency.random_streams import Cause
from elastic_consistency.simulator.delays.draws import Draw, independent_draws
from elastic_consistency.simulator.delays.preemption import Preemption
from elastic_consistency.simulator.delays.transient_straggler import TransientStraggler
from elastic_consistency.simulator.phase_log import PhaseLog


@final
class Phases:
    """Turns work into seconds, exactly, for computations that begin in order.

    Args:
        law: The straggler.
        seed: Seed of the run.
        worker: Whose phases; they come from a stream of their own.
    """

    __slots__ = ("_end", "_factor", "_lengths", "_slow")

    def __init__(self, law: TransientStraggler, seed: int, worker: int) -> None:
        self._factor = law.factor
        # Normal and slow phases take alternate positions of one stream.
        self._lengths = tuple(
            independent_draws(phase, seed, Cause.PHASE, worker, lane=lane, lanes=2)
            for lane, phase in enumerate((law.normal, law.slow))
        )
        self._slow = False
        self._end = self._lengths[0](0.0)

    def elapsed(self, begin: float, work: float) -> float:
        """Seconds that `work`, s at full speed, takes from `begin`, s, on.

        Calls must have non-decreasing `begin`, not before the end of the work of the last call.
        """
        now, left = begin, work
        while True:
            while self._end <= now:
                self._next_phase()
            slowness = self._factor if self._slow else 1.0
            room = (self._end - now) / slowness
            if left <= room:
                return now - begin + left * slowness
            left -= room
            now = self._end

    def _next_phase(self) -> None:
        self._slow = not self._slow
        self._end += self._lengths[self._slow](0.0)


def phased_draws(
    law: TransientStraggler, seed: int, worker: int, *, scale: float = 1.0, offset: float = 0.0
) -> Draw:
    """A function of the time at which a computation begins, s; returns its seconds.

    Args:
        law: The straggler.
        seed: Seed of the run.
        worker: Who computes.
        scale: Factor of the work of each computation, > 0.
        offset: Added to the work of each computation, s.
    """
    work = independent_draws(law.work, seed, Cause.COMPUTE, worker, scale=scale, offset=offset)
    phases = Phases(law, seed, worker)
    return lambda begin: phases.elapsed(begin, work(begin))


def suspensions(law: Preemption, seed: int, worker: int) -> PhaseLog:
    """Running phases of a worker and, as the second kind, its suspensions."""
    running, suspended = (
        independent_draws(phase, seed, Cause.PHASE, worker, lane=lane, lanes=2)
        for lane, phase in enumerate((law.running, law.suspended))
    )
    return PhaseLog((running, suspended), (1.0, 0.0))


def suspended_draws(
    law: Preemption,
    phases: PhaseLog,
    seed: int,
    worker: int,
    *,
    scale: float = 1.0,
    offset: float = 0.0,
) -> Draw:
    """Like phased_draws, for a worker that stands still in the suspensions of `phases`."""
    work = independent_draws(law.work, seed, Cause.COMPUTE, worker, scale=scale, offset=offset)
    return lambda begin: phases.elapsed(begin, work(begin))
