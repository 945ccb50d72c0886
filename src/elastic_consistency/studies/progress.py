"""How long computations say where they are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final


def _nobody(_what: str, _done: float) -> None:
    return None


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """A listener for a share of a computation.

    Attributes:
        listener: Called with what is being done and with the share done so far, in [0, 1].
        first: Share of the whole that is done when this part begins.
        last: Share of the whole that is done when this part ends.
    """

    listener: Callable[[str, float], None] = field(default=_nobody)
    first: float = 0.0
    last: float = 1.0

    def say(self, what: str, done: float) -> None:
        """Tell the listener that the share `done` of this part is done."""
        self.listener(what, self.first + (self.last - self.first) * min(max(done, 0.0), 1.0))

    def part(self, first: float, last: float) -> "Progress":
        """Progress of a part that goes from the share `first` to the share `last` of this one."""
        width = self.last - self.first
        return Progress(self.listener, self.first + width * first, self.first + width * last)
