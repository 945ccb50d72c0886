"""Losses: how often a message must be sent until it arrives."""

from math import floor, log
from typing import final

from elastic_consistency.random_streams import Cause, Stream


@final
class Attempts:
    """Numbers of attempts until a message arrives, when each is lost on its own.

    Args:
        loss: Probability that one attempt is lost, in [0, 1).
        seed: Seed of the run.
        sender: Who sends; its losses have a stream of their own.
    """

    __slots__ = ("_log_loss", "_stream")

    def __init__(self, loss: float, seed: int, sender: int) -> None:
        self._log_loss = log(loss) if loss > 0 else None
        self._stream = Stream(seed, Cause.FAULT, sender)

    def next(self) -> int:
        """Attempts that the next message needs, >= 1; geometric, from one uniform."""
        u = self._stream.draw()
        # P(more than k attempts) = loss ** k = P(u < loss ** k).
        return 1 if self._log_loss is None else 1 + floor(log(u) / self._log_loss)
