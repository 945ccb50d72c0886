"""Two phases in turn, which can be looked up at any time."""

from bisect import bisect_right
from typing import final

from elastic_consistency.simulator.delays.draws import Draw


@final
class PhaseLog:
    """Turns work into seconds while the speed alternates between two values.

    Unlike the phases of a transient straggler these can be asked about overlapping pieces of
    work, in any order: the ends of all phases so far are kept.

    Args:
        lengths: Draws of the lengths of the first kind of phase and of the second, s.
        speeds: Work a second in each; one of them may be 0.
    """

    __slots__ = ("_ends", "_lengths", "_speeds")

    def __init__(self, lengths: tuple[Draw, Draw], speeds: tuple[float, float]) -> None:
        self._lengths, self._speeds = lengths, speeds
        self._ends = [lengths[0](0.0)]

    def elapsed(self, begin: float, work: float) -> float:
        """Seconds that `work`, s at speed 1, takes from `begin`, s, on."""
        while self._ends[-1] <= begin:
            self._next_phase()
        phase = bisect_right(self._ends, begin)
        now, left, passed = begin, work, 0.0
        while True:
            speed, room = self._speeds[phase % 2], self._ends[phase] - now
            if left <= room * speed:
                return passed + (left / speed if left > 0 else 0.0)
            left -= room * speed
            passed += room
            now = self._ends[phase]
            phase += 1
            if phase == len(self._ends):
                self._next_phase()

    def second_kind(self, until: float) -> list[tuple[float, float]]:
        """Begin and end of the phases of the second kind before `until`, s, that were asked for."""
        begins, ends = self._ends[::2], self._ends[1::2]
        if len(begins) > len(ends):
            begins = begins[:-1]  # it is not known yet when the phase ends that begins here
        return [(b, e) for b, e in zip(begins, ends, strict=True) if b < until]

    def _next_phase(self) -> None:
        kind = len(self._ends) % 2
        self._ends.append(self._ends[-1] + self._lengths[kind](0.0))
