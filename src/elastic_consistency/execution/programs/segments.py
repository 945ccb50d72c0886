"""Where a program pauses: to look for infinities, and for those who want to look closer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.program import ADDS, STEPS, Do, Program, among

CHECK_EVERY = 16  # STEPs between two looks for infinities


@final
@dataclass(frozen=True, slots=True)
class Pause:
    """What happens between two instructions.

    Attributes:
        before: The instruction that comes next.
        check: Whether the step just made is looked at.
        watches: Positions, in the list of watches, of those who look.
    """

    before: int
    check: bool
    watches: tuple[int, ...]


@final
class Moments:
    """When each watch has its moments, and when it looks.

    Args:
        program: The program.
        watches: The watches.

    Attributes:
        of_watch: For each watch, (M,) instructions at which it has a moment.
    """

    def __init__(self, program: Program, watches: tuple[Watch, ...]) -> None:
        self._n = len(program)
        self._steps = np.flatnonzero(among(program.do, STEPS))
        self.of_watch = tuple(_moments(program, watch) for watch in watches)
        self._looks = [
            _looks(watch, moments) for watch, moments in zip(watches, self.of_watch, strict=True)
        ]

    def steps_before(self, instruction: int) -> int:
        """STEP rows among the first instructions."""
        return int(np.searchsorted(self._steps, instruction))

    def pauses(self, first: int, last: int, *, for_checks: bool = True) -> Iterator[Pause]:
        """Pauses after instruction `first` was reached, up to one before `last`.

        The last one always comes before `last`; a look that belongs before the instruction
        `last` is left to the next call. Without `for_checks` there are only looks.
        """
        checks = self._checks(first, last) if for_checks else set()
        looks: dict[int, list[int]] = {}
        for number, (places, after) in enumerate(self._looks):
            low, high = (first + 1, last + 1) if after else (first, last)
            a, b = np.searchsorted(places, (low, high))
            for place in places[a:b].tolist():
                looks.setdefault(place, []).append(number)
        for before in sorted(checks | set(looks) | {last}):
            yield Pause(before, before in checks, tuple(looks.get(before, ())))

    def _checks(self, first: int, last: int) -> set[int]:
        begin, end = np.searchsorted(self._steps, (first, last))
        numbers = np.arange(begin, end) + 1
        return set((self._steps[begin:end][numbers % CHECK_EVERY == 0] + 1).tolist())


def _moments(program: Program, watch: Watch) -> np.ndarray:
    if watch.moment is Moment.STARTED:
        return np.flatnonzero(program.do == Do.GRADIENT)
    if watch.moment is Moment.ADDED:
        return np.flatnonzero(among(program.do, ADDS))
    changes = among(program.do, (*STEPS, Do.MIX))
    return np.flatnonzero(changes & (program.replica == watch.replica))


def _looks(watch: Watch, moments: np.ndarray) -> tuple[np.ndarray, bool]:
    """Instructions before which the watch looks, and whether it looks after a step."""
    if watch.moment is Moment.STEPPED:
        return moments[watch.every - 1 :: watch.every] + 1, True
    return moments[:: watch.every], False
