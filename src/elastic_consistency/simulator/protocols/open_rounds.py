"""Rounds without a barrier, through which each worker goes at its own pace."""

from collections.abc import Set as AbstractSet
from typing import final

from elastic_consistency.simulator.simulation import Simulation

_NOBODY: frozenset[int] = frozenset()


@final
class OpenRounds:
    """Who takes part in which round, when workers may come and go.

    A round is opened by the first worker that gets to it. Whoever is there takes part, and who
    crashes before it has sent the update of a round is absent from it and all later ones, so
    that nobody waits for it. Who comes, or comes back, takes part from the next round on that
    nobody has opened.

    Args:
        simulation: The run.

    Attributes:
        n_open: Rounds opened so far.
        present: For each worker the round that it is in, -1 before its first.
    """

    __slots__ = ("_absent", "_away", "_simulation", "n_open", "present")

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.n_open = 0
        self.present = [-1] * simulation.cluster.n_workers
        self._away = set(simulation.cluster.faults.late_starts())
        self._absent: dict[int, set[int]] = {}

    def absent(self, round: int) -> AbstractSet[int]:
        """Workers whose update of an open round nobody need wait for."""
        return self._absent.get(round, _NOBODY)

    def advance(self, worker: int) -> bool:
        """Go into the next round; False if the limit forbids to open it."""
        if self.present[worker] + 1 == self.n_open:
            # Rounds are admitted whole: nobody then waits for somebody who has stopped.
            simulation, members = self._simulation, len(self.present) - len(self._away)
            if not simulation.admit(simulation.env.now, members):
                return False
            if self._away:
                self._absent[self.n_open] = set(self._away)
            self.n_open += 1
        self.present[worker] += 1
        return True

    def leave(self, worker: int, *, has_sent: bool) -> None:
        """The worker crashes; has it sent the update of the round that it is in?"""
        self._away.add(worker)
        for round in range(self.present[worker] + has_sent, self.n_open):
            self._absent.setdefault(round, set()).add(worker)

    def enter(self, worker: int) -> None:
        """The worker is there: from the beginning, later than others, or again."""
        if worker in self._away:
            self._away.discard(worker)
            self.present[worker] = self.n_open - 1
