"""One clock for all ranks: offsets to rank 0, measured by messages to and fro."""

import time
from dataclasses import dataclass
from typing import final

import torch
import torch.distributed as dist

_ROUND_TRIPS = 25


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """One comparison with the clock of rank 0.

    Attributes:
        local: Own clock, s, when it was made.
        offset: Seconds to add to the own clock.
        error: Bound on the error of the offset, s: half the shortest round trip.
    """

    local: float
    offset: float
    error: float


@final
class Clock:
    """The clock of one rank, and its readings of rank 0's.

    Offsets between the first and the last reading are interpolated, which removes a constant
    drift.

    Args:
        rank: Number of this rank.
        size: Number of ranks.
        skew: Seconds that this rank's clock is wrong on purpose.
    """

    def __init__(self, rank: int, size: int, skew: float = 0.0) -> None:
        self._rank, self._size, self._skew = rank, size, skew
        self.readings: list[Reading] = []

    def now(self) -> float:
        """Own time, s."""
        return time.monotonic() + self._skew

    def compare(self) -> None:
        """All ranks call this together, while nothing else is under way."""
        for other in range(1, self._size):
            if self._rank == 0:
                self._answer(other)
            elif self._rank == other:
                self.readings.append(self._ask())
        if self._rank == 0:
            self.readings.append(Reading(self.now(), 0.0, 0.0))

    def aligned(self, local: float) -> float:
        """Time of rank 0 when the own clock showed `local`."""
        first, last = self.readings[0], self.readings[-1]
        if last.local <= first.local:
            return local + first.offset
        share = (local - first.local) / (last.local - first.local)
        return local + first.offset + share * (last.offset - first.offset)

    def error(self) -> float:
        """Bound on the error of aligned times, s, if the drift is constant."""
        return max(reading.error for reading in self.readings)

    def _answer(self, other: int) -> None:
        question = torch.zeros(1, dtype=torch.float64)
        for _ in range(_ROUND_TRIPS):
            dist.recv(question, other)
            dist.send(torch.tensor([self.now()], dtype=torch.float64), other)

    def _ask(self) -> Reading:
        answer = torch.zeros(1, dtype=torch.float64)
        best: Reading | None = None
        for _ in range(_ROUND_TRIPS):
            before = self.now()
            dist.send(answer, 0)
            dist.recv(answer, 0)
            after = self.now()
            if best is None or (after - before) / 2 < best.error:
                middle = (before + after) / 2
                best = Reading(middle, float(answer) - middle, (after - before) / 2)
        assert best is not None
        return best
